"""Django admin and django-otp with our authenticators; each host runs in a process of its own."""

import pytest

from tests.hosts.runs import holds

HOSTS = {"integer keys": "", "UUID keys": "uuid_user"}


@pytest.mark.parametrize("users", HOSTS)
def test_django_admin_and_otp_site_work_with_users_of(users):
    holds("tests/twofactor/inside", "--ds=tests.twofactor.staff.settings", host=HOSTS[users])
