"""The service is at home in every host."""

from importlib.util import find_spec

import pytest

from tests.hosts.runs import HOSTS, python

_AXES = pytest.mark.skipif(find_spec("axes") is None, reason="django-axes is not installed")


def in_each(hosts):
    each = [pytest.param(host, marks=_AXES if host == "axes" else ()) for host in hosts]
    return pytest.mark.parametrize("host", each)


# The suite at large makes users who have an address and a flag of their own.
WHOLE = [host for host in HOSTS if host != "bare_user"]

# What a host rightly changes.
EXCEPT = {
    "axes": [
        "--ignore=tests/contract/test_queries.py",  # it asks the database for itself
        # It writes whatever REMOTE_ADDR says into a column that takes addresses alone.
        "--deselect=tests/core/test_flood_limits.py::test_an_address_that_is_none_crashes_nothing",
    ],
    # The clock that stands still takes the process to UTC, which naive times do not survive.
    "naive_time": ["--deselect=tests/contract/test_login.py::test_last_login_at_is_this_login"],
}


def suite(host, *paths):
    return python("-m", "pytest", *paths, "-q", "--tb=short", "-p", "no:cacheprovider", host=host)


@in_each(HOSTS)
def test_the_essentials_hold(host):
    run = suite(host, "tests/hosts/inside")

    assert run.returncode == 0, run.stdout


@pytest.mark.slow
@in_each(WHOLE)
def test_the_whole_contract_holds(host):
    run = suite(host, "tests/contract", "tests/core", *EXCEPT.get(host, ()))

    assert run.returncode == 0, run.stdout
