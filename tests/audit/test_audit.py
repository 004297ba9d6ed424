"""Runs the tests of `inside` in hosts that install every module and differ in user model and
databases. Each host runs in its own process."""

import pytest
from django.db import connection

from tests.hosts.runs import SQLITE, holds, left_to

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
INSIDE = "tests/audit/inside"


def test_log_in_a_host_with_every_module(request):
    left_to("test_folders_of_the_host_with_every_module", request)
    holds(WITH_ADMIN, INSIDE, sample=True)


@pytest.mark.slow
def test_every_case_in_a_host_with_every_module():
    holds(WITH_ADMIN, INSIDE, **SQLITE)


@pytest.mark.slow
@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="requires large tables and several writers"
)
def test_log_with_large_table_and_many_concurrent_writers():
    holds(WITH_ADMIN, "-m", "slow", INSIDE)


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
