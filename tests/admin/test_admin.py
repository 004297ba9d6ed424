"""Django admin serves whatever users the host has; each host runs in a process of its own."""

import pytest
from django.db import connection

from tests.hosts.runs import python

HOSTS = {"integer keys": {}, "UUID keys": {"host": "uuid_user"}, "e-mail": {"ADMIN_USERS": "email"}}


def run(*arguments, **where):
    ran = python(
        *("-m", "pytest", "tests/admin/inside", "--ds=tests.admin.settings"),
        *("-q", "--tb=short", "-p", "no:cacheprovider", *arguments),
        **where,
    )

    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("users", HOSTS)
def test_admin_holds_with_users_of(users):
    run(**HOSTS[users])


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one writer in at a time")
def test_admin_holds_in_crowds():
    run("-m", "slow")
