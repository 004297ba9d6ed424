"""Runs the tests of `inside` in hosts that install the module, each in its own process."""

from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import SQLITE, holds

SETTINGS = "--ds=tests.organization.settings"
HERE = Path(__file__).parent / "inside"
# Two parts of about equal length for the slow suite.
RULES = ["test_roles", "test_members", "test_invitations", "test_invitation_lists"]
OTHERS = sorted({path.stem for path in HERE.glob("test_*.py")}.difference(RULES))


def files(names):
    return [f"{HERE}/{name}.py" for name in names]


# In one process: with a sample of the cases, a start of Django takes as long as a fourth of them.
def test_rules_with_the_module():
    holds(SETTINGS, *files(RULES), *files(OTHERS), sample=True, migrate=False)


@pytest.mark.slow
def test_matrix_of_ways_to_sign_in():
    """The matrix with the ways that the module adds."""
    both = ("-m", "slow or not slow", "-k", "org or switch or route")
    holds(SETTINGS, *both, "tests/core/login_matrix")


@pytest.mark.slow
@pytest.mark.parametrize("part", [RULES, OTHERS], ids=["rules", "others"])
def test_every_case_with_the_module(part):
    holds(SETTINGS, *files(part), **SQLITE)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_races():
    holds(SETTINGS, f"{HERE}/races")


@pytest.mark.slow
def test_organizations_of_users_with_uuid_keys_and_an_email_address_only():
    """The users of tests/admin, since these have the columns of Django admin too."""
    holds(SETTINGS, str(HERE), sample=True, ADMIN_USERS="email", **SQLITE)


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers or many rows")
def test_large_organizations():
    holds(SETTINGS, "-m", "slow", str(HERE))


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_organization_keeps_an_owner_and_leaves_no_orphan_in_two_hundred_rounds():
    races = "two_owners_with_mixed_actions or deleted_organization"
    holds(SETTINGS, "-k", races, f"{HERE}/races", RACE_ROUNDS="200")
