"""Runs the tests of `inside` in a host that moves from simplejwt, in a process of its own."""

from tests.hosts.runs import holds

SETTINGS = "--ds=tests.compat.settings"


def test_routes_of_simplejwt_in_a_host_that_moves():
    holds(SETTINGS, "tests/compat/inside")
