"""Django admin and django-otp beside us; each host runs in a process of its own."""

import pytest

from tests.hosts.runs import holds

HOSTS = {"integer keys": "", "UUID keys": "uuid_user"}


@pytest.mark.parametrize("users", HOSTS)
def test_staff_are_served_with_users_of(users):
    holds("tests/twofactor/inside", "--ds=tests.twofactor.staff.settings", host=HOSTS[users])
