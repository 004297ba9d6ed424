"""Generated requests to every operation get only the responses of the OpenAPI description.

`python -m tests.fuzz.api --minutes 10` sends far more of them, also to the other login module.
"""

import re

import pytest

from tests.hosts.runs import python

pytestmark = pytest.mark.slow
ENOUGH = 1500


def test_responses_to_generated_requests_match_the_description():
    run = python(
        *("-m", "tests.openapi.fuzz", "--smoke"),
        host="everything",
        DJANGO_SETTINGS_MODULE="tests.settings",
        DATABASE_URL="sqlite://:memory:",
    )

    assert run.returncode == 0, run.stdout
    assert "\n0 operations without a request" in run.stdout
    assert int(re.search(r"(\d+) requests", run.stdout)[1]) >= ENOUGH
