"""Runs the tests of the support page in hosts with Django admin, each in its own process."""

import pytest

from tests.hosts.runs import SQLITE, holds, left_to

INSIDE = ("tests/staff_support/inside", "--ds=tests.audit.settings")
BROWSER = ("-m", "slow", "tests/staff_support/inside", "--ds=tests.staff_support.settings")


def test_support_page_in_a_host_with_every_module(request):
    left_to("test_folders_of_the_host_with_every_module", request)
    holds(*INSIDE, sample=True)


@pytest.mark.slow
def test_every_case_of_the_support_page():
    holds(*INSIDE, **SQLITE)


@pytest.mark.slow
def test_support_page_in_a_host_whose_users_have_uuid_keys_and_an_email_address_only():
    holds(*INSIDE, sample=True, ADMIN_USERS="email", **SQLITE)


@pytest.mark.slow
def test_support_page_in_a_browser():
    holds(*BROWSER)
