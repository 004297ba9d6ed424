from tests.races.conftest import (
    _no_floods,
    _several_writers,
    api,
    crowd,
    gathered,
    hashes,
    rounds,
)

__all__ = [
    "_no_floods",
    "_several_writers",
    "api",
    "crowd",
    "gathered",
    "hashes",
    "rounds",
]
