"""Apple: the form post, the client secret, and the name of the first login."""

import json
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest

from authservice.kernel.secret import Secret
from authservice.oauth.provider import TokenExchangeFailed
from tests.oauth.providers.conftest import APPLE_KEY, APPLE_PUBLIC_KEY, new_flow, settings_of
from tests.oauth.providers.standin import CLIENT_ID

USER = {"name": {"firstName": "Jane", "lastName": "Appleseed"}, "email": "evil@example.com"}


@pytest.fixture
def apple(provider, standin, monkeypatch):
    keys = standin.openid_settings(TEAM_ID="TEAM1", KEY_ID="KEY1", PRIVATE_KEY=APPLE_KEY)
    del keys["CLIENT_SECRET"], keys["USERINFO_URL"]
    standin.claims = {
        "sub": "001999.b1ac.0724",
        "email": "x7@privaterelay.appleid.com",
        "email_verified": "true",
        "is_private_email": "true",
        "nonce_supported": True,
    }
    # The stand-in knows a fixed secret; what Apple would do with this one is tested below.
    monkeypatch.setattr(
        standin, "_credentials", lambda *_: (CLIENT_ID, "secret of client 1"), raising=True
    )
    return provider("apple", **keys)


def test_apple_answers_by_a_form_without_pkce(apple):
    sent = dict(parse_qsl(urlsplit(apple.authorization_url(new_flow("apple"))).query))

    assert apple.form_post
    assert sent["response_mode"] == "form_post"
    assert "nonce" in sent
    assert "code_challenge" not in sent


def test_apple_client_secret_is_signed_and_short_lived(apple, standin, log_in):
    log_in(apple)
    [form] = standin.asked("/token")

    claims = jwt.decode(
        form["client_secret"],
        APPLE_PUBLIC_KEY,
        algorithms=["ES256"],
        audience="https://appleid.apple.com",
        issuer="TEAM1",
    )
    assert jwt.get_unverified_header(form["client_secret"])["kid"] == "KEY1"
    assert claims["sub"] == form["client_id"] == CLIENT_ID
    assert claims["exp"] - claims["iat"] <= 300


@pytest.mark.parametrize(
    "spell",
    [
        lambda key: key.replace("\n", "\\n"),
        lambda key: f'"{key}"',
        lambda key: f"  '{key.strip()}'\n",
        lambda key: key.replace("\n", "\r\n"),
        lambda key: key.strip().replace("\n", "\\n"),
    ],
    ids=["backslash", "quotes", "spaces", "CRLF", "no last line end"],
)
def test_apple_key_may_come_from_an_environment_file(provider, standin, spell):
    known = provider("apple", **settings_of(standin, "apple", PRIVATE_KEY=spell(APPLE_KEY)))

    jwt.decode(
        known.client_secret().reveal(),
        APPLE_PUBLIC_KEY,
        algorithms=["ES256"],
        audience="https://appleid.apple.com",
    )


def test_apple_client_id_is_never_read_from_the_callback(apple, standin, log_in):
    log_in(apple, client_id="com.evil.app", aud="com.evil.app")

    assert standin.asked("/token")[0]["client_id"] == CLIENT_ID


def test_apple_name_comes_with_the_first_login_alone(apple, log_in):
    first = log_in(apple, user=json.dumps(USER)).profile
    later = log_in(apple).profile

    assert (first.first_name, first.last_name, first.name) == (
        "Jane",
        "Appleseed",
        "Jane Appleseed",
    )
    assert (later.first_name, later.last_name, later.name) == ("", "", "")
    assert first.subject == later.subject == "001999.b1ac.0724"


def test_apple_address_is_that_of_the_id_token(apple, log_in):
    profile = log_in(apple, user=json.dumps(USER)).profile

    assert (profile.email, profile.email_verified) == ("x7@privaterelay.appleid.com", True)


@pytest.mark.parametrize("flag", [False, "false", None, 0])
def test_apple_address_without_flag_is_not_verified(apple, standin, log_in, flag):
    standin.claims["email_verified"] = flag

    assert log_in(apple).profile.email_verified is False


@pytest.mark.parametrize(
    "user",
    ["", "{", "[]", "null", '{"name": []}', '{"name": {"firstName": 1}}', "[" * 4000, "x" * 5000],
)
def test_apple_user_that_is_garbage_is_ignored(apple, log_in, user):
    assert log_in(apple, user=user).profile.name == ""


def test_apple_id_token_without_the_nonce_is_refused(apple, standin, log_in):
    standin.claims["nonce"] = None

    with pytest.raises(TokenExchangeFailed):
        log_in(apple)


def test_apple_native_app_signs_in_with_its_bundle_id(apple, standin):
    token = Secret(standin.id_token(aud="com.example.app", nonce="n-1"))

    profile = apple.verify_id_token(token, Secret("n-1"), {CLIENT_ID, "com.example.app"})

    assert profile.subject == "001999.b1ac.0724"
