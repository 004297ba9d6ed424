"""The log is kept in a host that installs every module, whatever its users and databases are; each
host runs in a process of its own."""

import pytest

from tests.hosts.runs import python

PYTEST = ("-m", "pytest", "--ds=tests.audit.settings", "-q", "--tb=short", "-p", "no:cacheprovider")
# They look at one database only, or for staff whose pages are elsewhere.
HERE = [f"tests/audit/inside/test_{name}.py" for name in ("entries", "cleanup", "lists", "deeds")]


def run(*arguments, **where):
    ran = python(*PYTEST, *arguments, **where)

    assert ran.returncode == 0, ran.stdout


def test_the_log_holds():
    run("tests/audit/inside")


@pytest.mark.slow
@pytest.mark.parametrize("host", ["uuid_user", "email_user", "naive_time", "replica"])
def test_the_log_holds_in_a_host_with(host):
    run(*HERE, host=host)


@pytest.mark.slow
def test_the_log_is_in_the_database_of_the_people():
    run("-p", "tests.hosts.databases.plugin", *HERE, host="two_databases")
