"""System checks of the oauth module."""

import pytest

from authservice.oauth import checks
from tests.oauth.in_process import SETTINGS
from tests.support.mounted import mounted


def ids():
    return [wrong.id.partition(".")[2] for wrong in checks.check_oauth()]


def test_correct_settings_report_nothing():
    assert ids() == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"USE_SESSION_AUTH": True}, ["E206"]),
        ({"PROVIDERS": {"linked": SETTINGS}}, ["E201"]),
    ],
)
def test_mistake_is_reported_under_its_id(oauth, keys, expected):
    oauth(**keys)

    assert ids() == expected


@pytest.mark.parametrize(
    ("api_url", "expected"), [("https://api.example.com", ["W205"]), ("", ["E200"])]
)
def test_api_url_decides_which_redirects_are_reported(oauth, configure, api_url, expected):
    configure(API_URL=api_url)
    oauth(**({"DEFAULT_REDIRECT_URL": "http://app.example.com"} if api_url else {}))

    assert ids() == expected


def test_accounts_that_cannot_log_in_are_warned_about(configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert ids() == ["W208"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"USE_SESSION_AUTH": True}, []),
        ({"USE_SESSION_AUTH": False}, ["W206"]),
        ({}, []),  # a new project with both modules has chosen nothing
    ],
)
def test_session_module_is_compared_with_the_setting(oauth, wanted, expected):
    with mounted(login="session"):
        oauth(**wanted)

        assert ids() == expected
