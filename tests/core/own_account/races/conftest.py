from tests.races.conftest import (
    _no_floods,
    api,
    crowd,
    gathered,
    hashes,
    rounds,
)

__all__ = [
    "_no_floods",
    "api",
    "crowd",
    "gathered",
    "hashes",
    "rounds",
]
