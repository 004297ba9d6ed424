"""Projects on other packages move over; the packages are installed in a process of its own."""

import pytest

from tests.hosts.runs import holds


def test_projects_on_other_packages_are_imported():
    holds("tests/coming_from/inside", "--ds=tests.coming_from.settings")


@pytest.mark.slow
def test_ten_thousand_users_are_imported():
    holds("tests/coming_from/inside", "--ds=tests.coming_from.settings", "-m", "slow")
