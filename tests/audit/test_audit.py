"""The log is kept in a host that installs every module, whatever its users and databases are; each
host runs in a process of its own."""

from itertools import chain
from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import holds

WITH_ADMIN, WITHOUT = "--ds=tests.audit.settings", "--ds=tests.typed"
SEVERAL = ("-p", "tests.hosts.databases.plugin")
# What is tried in other hosts; the pages of Django admin have hosts of their own.
PARTS = ("entries", "cleanup", "lists", "narrowing", "ways", "deeds", "undone")
HERE = [f"tests/audit/inside/test_{name}.py" for name in PARTS]
# Parts of about equal length; a file that is in none of them belongs to the last.
INSIDE = sorted(path.stem for path in (Path(__file__).parent / "inside").glob("test_*.py"))
SHARES = {
    "deeds": ["test_deeds"],
    "undone": ["test_undone"],
    "lists": ["test_lists", "test_narrowing", "test_ways"],
}
SHARES["others"] = [name for name in INSIDE if name not in chain(*SHARES.values())]


@pytest.mark.parametrize("share", SHARES)
def test_log_in_a_host_with_every_module(share):
    holds(WITH_ADMIN, *(f"tests/audit/inside/{name}.py" for name in SHARES[share]))


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="about large tables and several writers")
def test_the_log_holds_with_many_entries_and_in_crowds():
    holds(WITH_ADMIN, "-m", "slow", "tests/audit/inside")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["uuid_user", "email_user", "naive_time"])
def test_the_log_holds_in_a_host_with(host):
    holds(WITHOUT, *HERE, host=host)


# Django admin wants its own log beside the people, where these hosts do not have it.
@pytest.mark.slow
@pytest.mark.parametrize("host", ["two_databases", "replica"])
def test_the_log_is_where_the_people_are(host):
    holds(WITHOUT, *SEVERAL, *HERE, host=host)
