from django.apps import apps

from tests.admin.inside.conftest import helper, recorded, root
from tests.oauth.flow.conftest import _provider

# These tests require Django admin: `tests/admin/test_modules.py` runs them in a host that installs
# it.
collect_ignore_glob = [] if apps.is_installed("django.contrib.admin") else ["test_*.py"]

__all__ = ["_provider", "helper", "recorded", "root"]
