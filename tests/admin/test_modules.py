"""Django admin and a site of django-otp with second factors, passkeys and linked providers; each
host runs in a process of its own."""

import pytest

from tests.hosts.runs import holds

BOTH_SITES = "--ds=tests.twofactor.staff.settings"
HOSTS = {"integer keys": "", "UUID keys": "uuid_user"}
# Slow with the keys that most other tests have, since each is a host of its own.
USERS = [pytest.param("integer keys", marks=pytest.mark.slow), "UUID keys"]
PAGES = ("tests/passkeys/inside", "tests/oauth/inside")


@pytest.mark.parametrize("users", USERS)
def test_django_admin_and_otp_site_work_with_users_of(users):
    holds("tests/twofactor/inside", *PAGES, BOTH_SITES, host=HOSTS[users], migrate=False)


# Slow, since the pages are seen above beside those of django-otp.
@pytest.mark.slow
def test_django_admin_alone_lists_and_removes_passkeys_and_links_to_providers():
    holds(*PAGES, "--ds=tests.admin.settings", migrate=False)
