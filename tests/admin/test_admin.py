"""Django admin serves whatever users the host has; each host runs in a process of its own."""

import pytest
from django.db import connection

from tests.hosts.runs import holds

HOSTS = {"integer keys": {}, "UUID keys": {"host": "uuid_user"}, "e-mail": {"ADMIN_USERS": "email"}}
PAGES = ("tests/admin/inside", "--ds=tests.admin.settings")


@pytest.mark.parametrize("users", HOSTS)
def test_admin_holds_with_users_of(users):
    holds(*PAGES, **HOSTS[users])


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one writer in at a time")
def test_admin_holds_in_crowds():
    holds("-m", "slow", *PAGES)
