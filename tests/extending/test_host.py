"""Runs the tests of `inside` in a host whose users have fields of their own."""

from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import holds

HERE = Path(__file__).parent / "inside"
SETTINGS = "--ds=tests.extending.settings"


@pytest.mark.once
def test_extra_fields_of_users():
    holds(SETTINGS, f"--ignore={HERE / 'races'}", str(HERE), migrate=False)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_races_for_unique_extra_fields():
    holds(SETTINGS, f"{HERE}/races")
