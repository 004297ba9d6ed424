"""Django admin and django-otp beside us; each host runs in a process of its own."""

import pytest

from tests.hosts.runs import python

HOSTS = {"integer keys": "", "UUID keys": "uuid_user"}


@pytest.mark.parametrize("users", HOSTS)
def test_staff_are_served_with_users_of(users):
    run = python(
        *("-m", "pytest", "tests/twofactor/inside", "--ds=tests.twofactor.staff.settings"),
        *("-q", "--tb=short", "-p", "no:cacheprovider"),
        host=HOSTS[users],
    )

    assert run.returncode == 0, run.stdout
