"""The log is kept in a host that installs every module, whatever its users and databases are; each
host runs in a process of its own."""

import pytest
from django.db import connection

from tests.hosts.runs import python

PYTEST = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
WITH_ADMIN, WITHOUT = "--ds=tests.audit.settings", "--ds=tests.typed"
SEVERAL = ("-p", "tests.hosts.databases.plugin")
# What is tried in other hosts; the pages of Django admin have hosts of their own.
PARTS = ("entries", "cleanup", "lists", "narrowing", "ways", "deeds")
HERE = [f"tests/audit/inside/test_{name}.py" for name in PARTS]


def run(*arguments, **where):
    ran = python(*PYTEST, *arguments, **where)

    assert ran.returncode == 0, ran.stdout


def test_the_log_holds():
    run(WITH_ADMIN, "tests/audit/inside")


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="about large tables and several writers")
def test_the_log_holds_with_many_entries_and_in_crowds():
    run(WITH_ADMIN, "-m", "slow", "tests/audit/inside")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["uuid_user", "email_user", "naive_time"])
def test_the_log_holds_in_a_host_with(host):
    run(WITHOUT, *HERE, host=host)


# Django admin wants its own log beside the people, where these hosts do not have it.
@pytest.mark.slow
@pytest.mark.parametrize("host", ["two_databases", "replica"])
def test_the_log_is_where_the_people_are(host):
    run(WITHOUT, *SEVERAL, *HERE, host=host)
