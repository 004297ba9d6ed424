"""Runs the tests of `inside` in a host whose users have fields of their own."""

from pathlib import Path

import pytest
from django.db import connection

from tests.hosts.runs import FROM_MODELS, holds

HERE = Path(__file__).parent / "inside"
SETTINGS = "--ds=tests.extending.settings"


@pytest.mark.once
def test_extra_fields_of_users():
    holds(SETTINGS, FROM_MODELS, f"--ignore={HERE / 'races'}", str(HERE))


@pytest.mark.skipif(connection.vendor == "sqlite", reason="needs several writers")
def test_races_for_unique_extra_fields():
    holds(SETTINGS, f"{HERE}/races")
