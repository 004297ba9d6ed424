"""Settings of the host for its own views do not change a byte of the responses of authservice."""

import json

import pytest

from tests.hosts.runs import python


def tour(host, language=""):
    run = python(
        "-m", "tests.hosts.tour", language, host=host, DJANGO_SETTINGS_MODULE="tests.settings"
    )
    pages = [line for line in run.stdout.splitlines() if line.startswith("{")]
    assert run.returncode == 0, run.stdout
    return [json.loads(page) for page in pages]


@pytest.fixture(scope="module")
def plain():
    return tour("")


def test_hostile_host_does_not_change_the_responses(plain):
    assert tour("hostile") == plain


def test_language_does_not_change_the_statuses(plain):
    statuses = [(page["request"], page["status"]) for page in plain]

    assert [(page["request"], page["status"]) for page in tour("hostile", "de")] == statuses


def test_no_request_of_the_tour_is_a_5xx(plain):
    assert [page["request"] for page in plain if page["status"] >= 500] == []
