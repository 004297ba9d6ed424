"""Settings under which no mail leaves or nobody gets in are told before anything runs."""

import pytest
from django.core.checks import run_checks

PREFIX = "authservice."


@pytest.fixture
def ids():
    def ids():
        found = [str(check.id) for check in run_checks()]
        return [id_.removeprefix(PREFIX) for id_ in found if id_.startswith(PREFIX)]

    return ids


def test_the_defaults_are_sound(ids):
    assert ids() == []


def test_without_anybody_who_mails(ids, settings):
    settings.INSTALLED_APPS = [
        app for app in settings.INSTALLED_APPS if "PostOffice" not in app and "notif" not in app
    ]

    assert ids() == ["E030"]


@pytest.mark.parametrize("ttl", [0, -1])
def test_a_life_of_nothing(ids, magiclink, ttl):
    magiclink(TTL=ttl)

    assert ids() == ["E032"]


@pytest.mark.parametrize(
    "url",
    [
        "app.example.com",
        "/signed-in",
        "//app.example.com/x",
        "javascript:alert(1)",
        "ftp://app.example.com",
        "https://",
        "https://app.example.com/#/signed-in",
        "https://app.example.com/x#",
    ],
)
def test_a_callback_that_cannot_take_tokens(ids, magiclink, url):
    magiclink(CALLBACK_URL=url)

    assert ids() == ["E033"]


def test_a_callback_by_http_of_a_service_by_https(ids, configure):
    configure(
        API_URL="https://api.example.com", MAGICLINK={"CALLBACK_URL": "http://app.example.com/x"}
    )

    assert ids() == ["W034"]


@pytest.mark.parametrize("url", ["https://app.example.com/x?a=b", "http://localhost:3000"])
def test_callbacks_that_are_sound(ids, magiclink, url):
    magiclink(CALLBACK_URL=url)

    assert ids() == []


def test_accounts_that_nobody_can_use(ids, configure):
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
def test_links_without_confirmation_beside_token_cookies(
    ids, configure, section, enabled, expected
):
    configure(**section, COOKIES={"ENABLED": enabled})

    assert [id_ for id_ in ids() if id_ != "E060"] == expected


@pytest.mark.parametrize(
    ("key", "value", "id_"),
    [("CONFIRM", "always", "E002"), ("AUTO_REGISTER", 1, "E002"), ("CALLBACK", "x", "E001")],
)
def test_wrong_types_and_names(ids, magiclink, key, value, id_):
    magiclink(**{key: value})

    assert ids() == [id_]


def test_where_the_module_is_taken_out_it_is_silent(ids, settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "magiclink" not in app]
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "MAGICLINK": {"TTL": 0}}

    assert ids() == []
