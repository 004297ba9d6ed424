"""Runs the tests of `inside` in a host that moves from simplejwt, in a process of its own."""

import pytest
from django.db import connection

from tests.hosts.runs import holds

SETTINGS = "--ds=tests.compat.settings"
INSIDE = "tests/compat/inside"


def test_routes_and_trades_in_a_host_that_moves_from_simplejwt():
    holds(SETTINGS, INSIDE, f"--deselect={INSIDE}/races", migrate=False)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_races():
    holds(SETTINGS, f"{INSIDE}/races")
