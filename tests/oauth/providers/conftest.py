import secrets

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from authservice.kernel.secret import Secret
from authservice.oauth.provider import Flow
from authservice.oauth.provider_settings import find_provider
from tests.oauth.providers.standin import CLIENT_ID, stand_in

_apple = ec.generate_private_key(ec.SECP256R1())
APPLE_PUBLIC_KEY = _apple.public_key()
APPLE_KEY = _apple.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
NONCE = Secret("nonce of the app")

CALLBACK = "http://testserver/auth/oauth/{}/callback"
LOOPBACK = ["127.0.0.1", "localhost"]


@pytest.fixture
def provider_settings(configure):
    """`provider_settings(google={…})` sets the providers; loopback is allowed by name."""

    def change(**providers):
        configure(
            OAUTH={"PROVIDERS": providers},
            OUTBOUND={"PRIVATE_HOSTS": LOOPBACK, "INSECURE_HOSTS": LOOPBACK},
        )

    return change


@pytest.fixture
def provider(provider_settings):
    """`provider("google", CLIENT_ID=…)` is the one configured provider."""

    def build(name, **keys):
        provider_settings(**{name: keys})
        return find_provider(name)

    return build


@pytest.fixture
def standin():
    with stand_in() as started:
        yield started


def new_flow(name, **changes):
    """A flow with fresh secrets, as the module's views make them."""
    return Flow(
        **{
            "provider": name,
            "redirect_uri": CALLBACK.format(name),
            "state": Secret(secrets.token_urlsafe(32)),
            "nonce": Secret(secrets.token_urlsafe(32)),
            "code_verifier": Secret(secrets.token_urlsafe(48)),
            **changes,
        }
    )


@pytest.fixture
def log_in(standin):
    """`log_in(provider)` goes through the whole flow at the stand-in: a `ProviderResult`."""

    def go(provider, **parameters):
        flow = new_flow(provider.name)
        callback = standin.approve(provider.authorization_url(flow))
        return provider.complete({**callback, **parameters}, flow)

    return go


MORE = {
    "apple": {
        "TEAM_ID": "TEAM123456",
        "KEY_ID": "KEY1234567",
        "PRIVATE_KEY": APPLE_KEY,
        "CLIENT_SECRET": None,
    },
}


def settings_of(standin, name, **more):
    """Settings of a named provider that lead to the stand-in."""
    openid = name in ("google", "gitlab", "slack", "microsoft", "apple")
    known = standin.openid_settings() if openid else standin.settings()
    if name == "github":
        known["EMAILS_URL"] = f"{standin.url}/user/emails"
    if name == "apple":
        del known["USERINFO_URL"]
    merged = {**known, **MORE.get(name, {}), **more}
    return {key: value for key, value in merged.items() if value is not None}


@pytest.fixture
def named(provider, standin):
    return lambda name, **more: provider(name, **settings_of(standin, name, **more))


@pytest.fixture
def openid_provider(provider, standin):
    standin.claims = {"email": "ann@example.com", "email_verified": True}
    return provider("sso", **standin.openid_settings())


@pytest.fixture
def verify(openid_provider, standin):
    """`verify(claim=…)` verifies a token with these claims, as from a native app."""

    def check(*, token=None, audiences=(CLIENT_ID,), **claims):
        token = token or standin.id_token(**{"nonce": NONCE.reveal(), **claims})
        return openid_provider.verify_id_token(Secret(token), NONCE, audiences)

    return check
