"""Django admin and django-otp with our authenticators; each host runs in a process of its own."""

import pytest

from tests.hosts.runs import FROM_MODELS, holds

HOSTS = {"integer keys": "", "UUID keys": "uuid_user"}
# Slow with the keys that most other tests have, since each is a host of its own.
USERS = [pytest.param("integer keys", marks=pytest.mark.slow), "UUID keys"]


@pytest.mark.parametrize("users", USERS)
def test_django_admin_and_otp_site_work_with_users_of(users):
    inside = ("tests/twofactor/inside", "--ds=tests.twofactor.staff.settings")
    holds(*inside, FROM_MODELS, host=HOSTS[users])
