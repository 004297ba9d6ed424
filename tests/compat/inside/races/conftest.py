from tests.races.conftest import (  # noqa: F401 the same crowd for these races
    _no_floods,
    api,
    crowd,
    gathered,
    rounds,
)
