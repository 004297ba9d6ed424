"""Thousands of requests made by the description find nothing it does not say."""

import re

import pytest

from tests.hosts.runs import python

pytestmark = pytest.mark.slow
ENOUGH = 2000


def test_the_service_answers_as_described_whatever_it_is_asked():
    run = python(
        *("-m", "tests.openapi.fuzz"),
        host="everything",
        DJANGO_SETTINGS_MODULE="tests.settings",
        DATABASE_URL="sqlite://:memory:",
    )

    assert run.returncode == 0, run.stdout
    assert int(re.search(r"(\d+) requests", run.stdout)[1]) >= ENOUGH
