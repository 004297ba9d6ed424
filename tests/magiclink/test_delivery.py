"""A link redirects to the front end of the settings, with the outcome in the fragment."""

import pytest

from authservice.kernel.interfaces import Challenge
from authservice.kernel.secret import Secret
from tests.contract.shapes import is_refusal
from tests.csrf.installed import installed
from tests.magiclink.magic import FRONT, redirect_of
from tests.support.flows import wrong
from tests.support.slots import asking

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def _front_end(magiclink):
    magiclink(CALLBACK_URL=FRONT)


@pytest.fixture(params=["link", "button"])
def use(request, magic):
    return magic.follow if request.param == "link" else magic.submit


def gate(arrival):
    asked = {"requires_2fa": True, "user_id": "1", "message": "Go on."}
    asked["temp_token"] = Secret("t&m=p#")
    return Challenge("2fa", asked)


def test_redirect_has_the_tokens_in_the_fragment_and_nothing_else(magic, api, ann, use):
    to, fragment = redirect_of(use(magic.mailed().token))

    assert to == FRONT
    assert set(fragment) == {"access_token", "refresh_token"}
    assert api.get("me", token=fragment["access_token"]).status == 200
    assert api.post("refresh", refresh_token=fragment["refresh_token"]).status == 200


def test_redirect_that_sets_token_cookies_has_no_tokens_in_its_address(magic, ann, use, configure):
    configure(COOKIES={"ENABLED": True})
    pair = magic.mailed()
    with installed():
        answer = use(pair.token)

    assert redirect_of(answer) == (FRONT, {"status": "signed_in"})
    assert {"authservice_access", "authservice_refresh"} <= set(answer.response.cookies)


def test_challenge_is_in_the_fragment_with_token_cookies_too(magic, ann, use, configure):
    configure(COOKIES={"ENABLED": True})
    pair = magic.mailed()
    with installed(), asking(gate):
        answer = use(pair.token)

    assert redirect_of(answer) == (FRONT, {"challenge": "2fa", "temp_token": "t&m=p#"})
    assert not answer.response.cookies


def test_client_that_accepts_json_is_redirected_too(magic, ann):
    assert redirect_of(magic.follow(magic.mailed().token, **JSON))[0] == FRONT


def test_redirect_is_not_cached_and_sends_no_referrer(magic, ann, use):
    for token in (magic.mailed().token, "nonsense"):
        headers = use(token).headers

        assert headers["Cache-Control"] == "no-store, private"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_challenge_is_in_the_fragment_without_tokens(magic, ann, use):
    with asking(gate):
        answer = use(magic.mailed().token)

    assert redirect_of(answer) == (FRONT, {"challenge": "2fa", "temp_token": "t&m=p#"})
    assert answer.response.cookies == {}


@pytest.mark.parametrize("token", ["nonsense", "A" * 43])
def test_invalid_link_is_an_error_in_the_fragment(magic, ann, use, token):
    to, fragment = redirect_of(use(token))

    assert to == FRONT
    assert fragment == {"error": "INVALID_TOKEN", "error_description": "The link is not valid."}


def test_expired_link_has_its_own_error_in_the_fragment(magic, ann, use, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert redirect_of(use(pair.token))[1]["error"] == "TOKEN_EXPIRED"


def test_refused_login_is_an_error_in_the_fragment(magic, ann, use, configure):
    pair = magic.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert redirect_of(use(pair.token))[1]["error"] == "PHONE_NOT_VERIFIED"


def test_query_of_the_callback_url_is_kept(magic, ann, use, magiclink):
    magiclink(CALLBACK_URL=f"{FRONT}?tenant=1")

    assert redirect_of(use(magic.mailed().token))[0] == f"{FRONT}?tenant=1"


@pytest.mark.parametrize("name", ["next", "redirect", "redirect_uri", "callback_url", "to"])
def test_request_cannot_change_the_target_of_the_redirect(api, magic, ann, name):
    evil = "https://evil.example"
    pair = magic.mailed()
    answer = api.get(
        f"magic-link/verify?token={pair.token}&{name}={evil}",
        headers={"Referer": evil, "Origin": evil, "X-Forwarded-Host": "evil.example"},
    )

    assert redirect_of(answer)[0] == FRONT
    assert "evil" not in answer.headers["Location"]


def test_redirect_sets_the_device_token_cookie(magic, ann, use):
    cookies = use(magic.mailed().token).response.cookies

    assert cookies["authservice_device"]["httponly"]


def test_code_is_answered_in_json_despite_a_callback_url(magic, ann):
    pair = magic.mailed()

    assert is_refusal(magic.type(wrong(pair.code)), 400, "INVALID_VERIFICATION_CODE")
    assert "access_token" in magic.type(pair.code).data


def test_challenge_in_json_has_no_tokens(magic, ann, use, magiclink):
    magiclink()
    with asking(gate):
        answer = use(magic.mailed().token)

    assert answer.status == 200
    assert "access_token" not in answer.data
