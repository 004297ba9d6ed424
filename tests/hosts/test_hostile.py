"""Settings of the host for its own views do not change a byte of the responses of authservice."""

import json

import pytest

from tests.hosts.runs import python


def tours(host, *languages):
    """The responses to the same requests in each language."""
    run = python(
        "-m", "tests.hosts.tour", *languages, host=host, DJANGO_SETTINGS_MODULE="tests.settings"
    )
    assert run.returncode == 0, run.stdout
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[{")]
    assert len(found) == len(languages), run.stdout
    return dict(zip(languages, found, strict=True))


@pytest.fixture(scope="module")
def plain():
    return tours("", "")[""]


@pytest.fixture(scope="module")
def hostile():
    return tours("hostile", "", "de")


def test_hostile_host_does_not_change_the_responses(plain, hostile):
    assert hostile[""] == plain


def test_language_does_not_change_the_statuses(plain, hostile):
    statuses = [(page["request"], page["status"]) for page in plain]

    assert [(page["request"], page["status"]) for page in hostile["de"]] == statuses


def test_no_request_of_the_tour_is_a_5xx(plain):
    assert [page["request"] for page in plain if page["status"] >= 500] == []
