import pytest
from django.apps import apps
from django.test import Client

from tests.admin.inside.conftest import Browser, staff

# These tests need a host with django-otp: `test_staff.py` one folder above runs them in one.
collect_ignore_glob = [] if apps.is_installed("django_otp") else ["test_*.py"]


@pytest.fixture
def root():
    return Browser(staff("root@example.com", superuser=True))


@pytest.fixture
def helper():
    """`helper("view_authenticator")` is a member of staff with only these permissions."""
    return lambda *permissions: Browser(staff("helper@example.com", *permissions))


@pytest.fixture
def browser():
    return Client()
