"""The log is kept in a host that installs every module; it runs in a process of its own."""

from tests.hosts.runs import python

PYTEST = ("-m", "pytest", "--ds=tests.audit.settings", "-q", "--tb=short", "-p", "no:cacheprovider")


def test_the_log_holds():
    run = python(*PYTEST, "tests/audit/inside")

    assert run.returncode == 0, run.stdout
