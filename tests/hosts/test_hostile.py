"""What a host sets for its own views has no say in ours, down to the last byte."""

import json

import pytest

from tests.hosts.runs import python


def tour(host, language=""):
    walked = python(
        "-m", "tests.hosts.tour", language, host=host, DJANGO_SETTINGS_MODULE="tests.settings"
    )
    pages = [line for line in walked.stdout.splitlines() if line.startswith("{")]
    assert walked.returncode == 0, walked.stdout
    return [json.loads(page) for page in pages]


@pytest.fixture(scope="module")
def plain():
    return tour("")


def test_a_hostile_host_changes_no_byte(plain):
    assert tour("hostile") == plain


def test_a_language_changes_no_status(plain):
    statuses = [(page["asked"], page["status"]) for page in plain]

    assert [(page["asked"], page["status"]) for page in tour("hostile", "de")] == statuses


def test_no_stop_of_the_tour_crashes(plain):
    assert [page["asked"] for page in plain if page["status"] >= 500] == []
