"""Generated requests to every operation get only the responses of the OpenAPI description.

`python -m tests.fuzz.api --minutes 10` sends far more of them, also to the other login module.
"""

import re

import pytest

from tests.hosts.runs import python

pytestmark = pytest.mark.slow
ENOUGH = 1500
LINKS = 100


def run_everywhere(*program):
    """The output of a program in a host with every module; it must find nothing."""
    run = python(
        *("-m", *program),
        host="everything",
        DJANGO_SETTINGS_MODULE="tests.settings",
        DATABASE_URL="sqlite://:memory:",
    )
    assert run.returncode == 0, run.stdout
    return run


def test_responses_to_generated_requests_match_the_description():
    run = run_everywhere("tests.openapi.fuzz", "--smoke")

    assert "\n0 operations without a request" in run.stdout
    assert int(re.search(r"(\d+) requests", run.stdout)[1]) >= ENOUGH


def test_requests_by_links_of_the_description_find_nothing():
    run = run_everywhere("tests.openapi.follow")

    assert int(re.search(r"(\d+) links followed", run.stdout)[1]) >= LINKS
