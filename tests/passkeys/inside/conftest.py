import pytest
from django.apps import apps

from tests.admin.inside.conftest import Browser, staff

# These tests require Django admin: `test_admin_site.py` one folder above runs them in a host that
# installs it.
collect_ignore_glob = [] if apps.is_installed("django.contrib.admin") else ["test_*.py"]


@pytest.fixture
def root():
    return Browser(staff("root@example.com", superuser=True))


@pytest.fixture
def helper():
    """`helper("view_passkey")` is a staff user with these permissions only."""
    return lambda *permissions: Browser(staff("helper@example.com", *permissions))
