"""Django admin serves whatever users the host has; each host runs in a process of its own."""

import pytest

from tests.hosts.runs import python

HOSTS = {"integer keys": {}, "UUID keys": {"host": "uuid_user"}, "e-mail": {"ADMIN_USERS": "email"}}


@pytest.mark.parametrize("users", HOSTS)
def test_admin_holds_with_users_of(users):
    run = python(
        *("-m", "pytest", "tests/admin/inside", "--ds=tests.admin.settings"),
        *("-q", "--tb=short", "-p", "no:cacheprovider"),
        **HOSTS[users],
    )

    assert run.returncode == 0, run.stdout
