import pytest
from django.apps import apps
from django.test import Client

from tests.admin.inside.conftest import Browser, staff

# In a host without django-otp there is nothing to try: `test_staff.py` above runs one that has.
collect_ignore_glob = [] if apps.is_installed("django_otp") else ["test_*.py"]


@pytest.fixture
def root():
    return Browser(staff("root@example.com", superuser=True))


@pytest.fixture
def helper():
    """`helper("view_authenticator")` is a member of staff with these permissions and no more."""
    return lambda *permissions: Browser(staff("helper@example.com", *permissions))


@pytest.fixture
def browser():
    return Client()
