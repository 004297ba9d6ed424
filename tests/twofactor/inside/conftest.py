import pytest
from django.apps import apps
from django.test import Client

from tests.admin.inside.conftest import helper, root

# These tests need a host with django-otp: `tests/admin/test_modules.py` runs them in one.
collect_ignore_glob = [] if apps.is_installed("django_otp") else ["test_*.py"]

__all__ = ["helper", "root"]


@pytest.fixture
def browser():
    return Client()
