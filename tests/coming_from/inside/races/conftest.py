from django.apps import apps

from tests.races.conftest import _no_floods, api, crowd, gathered, rounds

collect_ignore_glob = [] if apps.is_installed("two_factor") else ["test_*.py"]

__all__ = ["_no_floods", "api", "crowd", "gathered", "rounds"]
