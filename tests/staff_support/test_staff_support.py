"""Runs the tests of the support page in hosts with Django admin, each in its own process."""

import pytest

from tests.hosts.runs import SQLITE, holds

INSIDE = ("tests/staff_support/inside", "--ds=tests.audit.settings")
BROWSER = ("-m", "slow", "tests/staff_support/inside", "--ds=tests.staff_support.settings")


@pytest.mark.slow
def test_support_page_in_a_host_with_every_module():
    holds(*INSIDE)


@pytest.mark.slow
@pytest.mark.parametrize("users", [{"host": "uuid_user"}, {"ADMIN_USERS": "email"}])
def test_support_page_in_a_host_with_other_users(users):
    holds(*INSIDE, sample=True, **users, **SQLITE)


@pytest.mark.slow
def test_support_page_in_a_browser():
    holds(*BROWSER)
