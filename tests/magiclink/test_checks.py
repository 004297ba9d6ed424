"""Settings with which no e-mail is sent or no user can log in are reported by system checks."""

import pytest
from django.core.checks import run_checks

PREFIX = "authservice."
# Information on the user model of the host.
OF_USERS = ("authservice.I081", "authservice.I082", "authservice.I084")


@pytest.fixture
def ids():
    def ids():
        found = [str(check.id) for check in run_checks(databases=[])]
        # Checks of the invitation module warn of some of the same mistakes. No link leads to the
        # front end, which this host does not have.
        others = ("authservice.W18", "authservice.W230", *OF_USERS)
        return [
            id_.removeprefix(PREFIX)
            for id_ in found
            if id_.startswith(PREFIX) and not id_.startswith(others)
        ]

    return ids


def test_default_settings_pass_the_checks(ids):
    assert ids() == []


def test_module_without_a_messenger_is_an_error(ids, settings):
    settings.INSTALLED_APPS = [
        app for app in settings.INSTALLED_APPS if "PostOffice" not in app and "notif" not in app
    ]

    assert ids() == ["E030"]


def test_callback_url_by_http_of_a_service_by_https_is_a_warning(ids, configure):
    configure(
        API_URL="https://api.example.com", MAGICLINK={"CALLBACK_URL": "http://app.example.com/x"}
    )

    assert ids() == ["W034"]


@pytest.mark.parametrize("url", ["https://app.example.com/x?a=b", "http://localhost:3000"])
def test_valid_callback_url_passes_the_checks(ids, magiclink, url):
    magiclink(CALLBACK_URL=url)

    assert ids() == []


def test_auto_register_with_required_phone_verification_is_a_warning(ids, configure):
    configure(MAGICLINK={"AUTO_REGISTER": True}, CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert ids() == ["W035"]


@pytest.mark.parametrize(
    ("section", "enabled", "expected"),
    [
        ({"MAGICLINK": {"CONFIRM": "off"}}, True, ["W036"]),
        ({"CORE": {"VERIFY_CONFIRM": "off"}}, True, ["W112"]),
        ({"MAGICLINK": {"CONFIRM": "off"}, "CORE": {"VERIFY_CONFIRM": "off"}}, False, []),
        ({}, True, []),
    ],
)
def test_links_without_confirmation_beside_token_cookies_are_a_warning(
    ids, configure, section, enabled, expected
):
    configure(**section, COOKIES={"ENABLED": enabled})

    assert [id_ for id_ in ids() if id_ != "E060"] == expected


@pytest.mark.parametrize(
    ("key", "value", "id_"),
    [("CONFIRM", "always", "E002"), ("AUTO_REGISTER", 1, "E002"), ("CALLBACK", "x", "E001")],
)
def test_setting_of_wrong_type_or_name_is_an_error(ids, magiclink, key, value, id_):
    magiclink(**{key: value})

    assert ids() == [id_]


def test_module_not_installed_reports_nothing(ids, settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "magiclink" not in app]
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "MAGICLINK": {"TTL": 0}}

    assert ids() == []
