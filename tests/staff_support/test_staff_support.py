"""Runs the tests of the support page in hosts with Django admin, each in its own process."""

import pytest

from tests.hosts.runs import holds

INSIDE = "tests/staff_support/inside"


def test_support_page_in_a_host_with_every_module():
    holds(INSIDE, "--ds=tests.audit.settings")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["uuid_user", "email_user"])
def test_support_page_in_a_host_with(host):
    holds(INSIDE, "--ds=tests.audit.settings", host=host)
