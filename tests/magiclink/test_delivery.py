"""Where a link leads on: the front end of the settings, which finds the rest in the fragment."""

import pytest

from authservice.kernel.interfaces import Challenge
from authservice.kernel.modules import plugged
from authservice.kernel.secret import Secret
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import FRONT, led_to
from tests.recovery.flows import wrong

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def _front_end(magiclink):
    magiclink(CALLBACK_URL=FRONT)


@pytest.fixture(params=["link", "button"])
def use(request, magic):
    return magic.follow if request.param == "link" else magic.push


def gate(arrival):
    asked = {"requires_2fa": True, "user_id": "1", "message": "Go on."}
    asked["temp_token"] = Secret("t&m=p#")
    return Challenge("2fa", asked)


def test_the_tokens_are_in_the_fragment_and_nothing_else_is(magic, api, ann, use):
    to, told = led_to(use(magic.mailed().token))

    assert to == FRONT
    assert set(told) == {"access_token", "refresh_token"}
    assert api.get("me", token=told["access_token"]).status == 200
    assert api.post("refresh", refresh_token=told["refresh_token"]).status == 200


def test_a_program_is_sent_there_too(magic, ann):
    assert led_to(magic.follow(magic.mailed().token, **JSON))[0] == FRONT


def test_the_redirect_is_not_kept_and_says_nothing_of_where_it_came_from(magic, ann, use):
    for token in (magic.mailed().token, "nonsense"):
        headers = use(token).headers

        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_a_challenge_is_said_and_no_token_is(magic, ann, use):
    with plugged("login_gate", gate):
        answer = use(magic.mailed().token)

    assert led_to(answer) == (FRONT, {"challenge": "2fa", "temp_token": "t&m=p#"})
    assert answer.response.cookies == {}


@pytest.mark.parametrize("token", ["nonsense", "A" * 43])
def test_what_is_no_link_is_said_as_an_error(magic, ann, use, token):
    to, told = led_to(use(token))

    assert to == FRONT
    assert told == {"error": "INVALID_TOKEN", "error_description": "The link is not valid."}


def test_an_expired_link_is_said_as_one(magic, ann, use, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert led_to(use(pair.token))[1]["error"] == "TOKEN_EXPIRED"


def test_a_refusal_of_the_door_is_said(magic, ann, use, configure):
    pair = magic.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert led_to(use(pair.token))[1]["error"] == "PHONE_NOT_VERIFIED"


def test_a_query_of_the_callback_is_kept(magic, ann, use, magiclink):
    magiclink(CALLBACK_URL=f"{FRONT}?tenant=1")

    assert led_to(use(magic.mailed().token))[0] == f"{FRONT}?tenant=1"


@pytest.mark.parametrize("name", ["next", "redirect", "redirect_uri", "callback_url", "to"])
def test_no_request_says_where_it_leads(api, magic, ann, name):
    evil = "https://evil.example"
    pair = magic.mailed()
    answer = api.get(
        f"magic-link/verify?token={pair.token}&{name}={evil}",
        headers={"Referer": evil, "Origin": evil, "X-Forwarded-Host": "evil.example"},
    )

    assert led_to(answer)[0] == FRONT
    assert "evil" not in answer.headers["Location"]


def test_the_browser_keeps_its_device_token(magic, ann, use):
    cookies = use(magic.mailed().token).response.cookies

    assert cookies["authservice_device"]["httponly"]


def test_tokens_go_into_cookies_where_the_host_wants_that(magic, ann, use, configure):
    configure(COOKIES={"ENABLED": True}, MAGICLINK={"CALLBACK_URL": FRONT})
    with plugged("request_guard", lambda request, session_id: None):
        cookies = use(magic.mailed().token).response.cookies

    assert {"authservice_access", "authservice_refresh"} <= set(cookies)


def test_a_code_is_answered_in_json_all_the_same(magic, ann):
    pair = magic.mailed()

    assert is_refusal(magic.type(wrong(pair.code)), 400, "INVALID_VERIFICATION_CODE")
    assert "access_token" in magic.type(pair.code).data


def test_a_challenge_in_json_has_no_tokens(magic, ann, use, magiclink):
    magiclink()
    with plugged("login_gate", gate):
        answer = use(magic.mailed().token)

    assert answer.status == 200
    assert "access_token" not in answer.data
