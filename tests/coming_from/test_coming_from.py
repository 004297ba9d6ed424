"""Projects on other packages move over; the packages are installed in a process of its own."""

import pytest

from tests.hosts.runs import SQLITE, holds

INSIDE = ("tests/coming_from/inside", "--ds=tests.coming_from.settings")


def test_projects_on_other_packages_are_imported():
    holds(*INSIDE, sample=True)


@pytest.mark.slow
def test_every_case_of_an_import():
    holds(*INSIDE, **SQLITE)


@pytest.mark.slow
def test_ten_thousand_users_are_imported():
    holds(*INSIDE, "-m", "slow")
