"""Thousands of generated requests get only the responses of the OpenAPI description."""

import re

import pytest

from tests.hosts.runs import python

pytestmark = pytest.mark.slow
ENOUGH = 2000


def test_responses_to_generated_requests_match_the_description():
    run = python(
        *("-m", "tests.openapi.fuzz"),
        host="everything",
        DJANGO_SETTINGS_MODULE="tests.settings",
        DATABASE_URL="sqlite://:memory:",
    )

    assert run.returncode == 0, run.stdout
    assert int(re.search(r"(\d+) requests", run.stdout)[1]) >= ENOUGH
