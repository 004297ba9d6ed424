"""Runs the tests of `inside` in hosts that install every module and differ in user model and
databases. Each host runs in its own process."""

from itertools import chain
from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import SQLITE, holds

WITH_ADMIN, WITHOUT_ADMIN = "--ds=tests.audit.settings", "--ds=tests.support.typed"
SEVERAL_DATABASES = ("-p", "tests.hosts.databases.plugin")
# Files that also run in other hosts; Django admin has its own hosts in `tests/admin`.
PARTS = (
    "entries",
    "cleanup",
    "lists",
    "narrowing",
    "search_strategies",
    "action_entries",
    "failed_entries",
)
PART_FILES = [f"tests/audit/inside/test_{name}.py" for name in PARTS]
# Shares of about equal duration; files in no other share are in the last.
INSIDE = sorted(path.stem for path in (Path(__file__).parent / "inside").glob("test_*.py"))
SHARES = {
    "action_entries": ["test_action_entries"],
    "failed_entries": ["test_failed_entries"],
    "lists": ["test_lists", "test_narrowing", "test_search_strategies"],
}
SHARES["others"] = [name for name in INSIDE if name not in chain(*SHARES.values())]


def files_of(share: str) -> list[str]:
    return [f"tests/audit/inside/{name}.py" for name in SHARES[share]]


@pytest.mark.parametrize("share", SHARES)
def test_log_in_a_host_with_every_module(share):
    holds(WITH_ADMIN, *files_of(share), sample=True)


@pytest.mark.slow
def test_every_case_in_a_host_with_every_module():
    holds(WITH_ADMIN, *chain(*map(files_of, SHARES)), **SQLITE)


@pytest.mark.slow
@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="requires large tables and several writers"
)
def test_log_with_large_table_and_many_concurrent_writers():
    holds(WITH_ADMIN, "-m", "slow", "tests/audit/inside")


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has partitions")
def test_lists_and_cleanup_with_one_partition_for_each_month():
    named = [f"tests/audit/inside/test_{name}.py" for name in ("lists", "cleanup", "narrowing")]
    holds(WITH_ADMIN, "-p", "tests.audit.partitioned", *named, sample=True)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["email_user", "naive_time"])
def test_log_in_a_host_with(host):
    holds(WITHOUT_ADMIN, *PART_FILES, host=host, sample=True, **SQLITE)


# Django admin requires its log in the database of the users; these hosts keep it elsewhere.
@pytest.mark.slow
@pytest.mark.parametrize("host", ["two_databases", "replica"])
def test_log_is_in_the_database_of_the_users(host):
    holds(WITHOUT_ADMIN, *SEVERAL_DATABASES, *PART_FILES, host=host, sample=True, **SQLITE)
