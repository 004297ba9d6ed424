"""Runs the tests of `inside` in hosts that install the module, each in its own process."""

from itertools import chain
from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import holds

SETTINGS = "--ds=tests.organization.settings"
HERE = Path(__file__).parent / "inside"
# Parts of about equal length; a file that is in none of them belongs to the last.
INSIDE = sorted(path.stem for path in HERE.glob("test_*.py"))
SHARES = {
    "roles": ["test_roles", "test_members"],
    "invitations": ["test_invitations", "test_invitation_lists", "test_answering"],
}
SHARES["others"] = [name for name in INSIDE if name not in chain(*SHARES.values())]


@pytest.mark.parametrize("share", SHARES)
def test_organizations_in_a_host_with_the_module(share):
    holds(SETTINGS, *(f"{HERE}/{name}.py" for name in SHARES[share]))


def test_matrix_of_ways_to_sign_in_contains_those_of_organizations():
    holds(SETTINGS, "-k", "org or switch or route", "tests/core/login_matrix")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_races():
    holds(SETTINGS, f"{HERE}/races")


@pytest.mark.slow
def test_organizations_of_users_with_other_keys():
    holds(SETTINGS, str(HERE), host="uuid_user")


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers or many rows")
def test_many_rounds_and_large_organizations():
    holds(SETTINGS, "-m", "slow", str(HERE))
