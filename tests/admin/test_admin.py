"""Runs the tests of Django admin in hosts with different user models, each in its own process."""

import pytest
from django.db import connection

from tests.hosts.runs import holds

HOSTS = {"integer keys": {}, "UUID keys": {"host": "uuid_user"}, "e-mail": {"ADMIN_USERS": "email"}}
PAGES = ("tests/admin/inside", "--ds=tests.admin.settings")


@pytest.mark.parametrize("users", HOSTS)
def test_admin_in_a_host_with_users_of(users):
    holds(*PAGES, **HOSTS[users])


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite allows one writer at a time")
def test_admin_under_concurrent_requests():
    holds("-m", "slow", *PAGES)
