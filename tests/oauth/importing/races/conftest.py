from django.apps import apps

from tests.oauth.importing.conftest import run
from tests.oauth.races.conftest import (
    _messenger,
    _no_floods,
    _provider,
    api,
    crowd,
    gathered,
    oauth,
    post,
    rounds,
)

collect_ignore_glob = [] if apps.is_installed("social_django") else ["test_*.py"]

__all__ = [
    "_messenger",
    "_no_floods",
    "_provider",
    "api",
    "crowd",
    "gathered",
    "oauth",
    "post",
    "rounds",
    "run",
]
