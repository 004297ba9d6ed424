from tests.oauth.flow.conftest import (
    _messenger,
    _provider,
    browser,
    oauth,
    other_browser,
    post,
    providers,
)
from tests.races.conftest import (
    _no_floods,
    api,
    crowd,
    gathered,
    rounds,
)

__all__ = [
    "_messenger",
    "_no_floods",
    "_provider",
    "api",
    "browser",
    "crowd",
    "gathered",
    "oauth",
    "other_browser",
    "post",
    "providers",
    "rounds",
]
