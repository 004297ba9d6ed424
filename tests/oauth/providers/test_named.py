"""Each named provider against answers in the shape of its public documentation."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from authservice.kernel.secret import Secret
from authservice.oauth.provider import ProviderError, UserInfoFailed
from authservice.oauth.provider_settings import BUILT_IN
from tests.oauth.providers.conftest import CALLBACK, MORE, new_flow
from tests.oauth.providers.standin import CLIENT_ID


def query_of(provider):
    flow = new_flow(provider.name)
    return dict(parse_qsl(urlsplit(provider.authorization_url(flow)).query)), flow


SCOPES = {
    "google": "openid email profile",
    "github": "user:email read:user",
    "microsoft": "openid email profile User.Read",
    "discord": "identify email",
    "apple": "name email",
    "facebook": "email public_profile",
    "gitlab": "openid email profile",
    "linkedin": "openid profile email",
    "slack": "openid email profile",
}
PKCE = ("google", "github", "microsoft", "discord", "gitlab")


def test_every_built_in_provider_is_tested_here():
    assert set(SCOPES) == set(BUILT_IN)


@pytest.mark.parametrize("name", SCOPES)
def test_authorization_request_has_default_scopes_and_the_exact_callback(named, name):
    sent, flow = query_of(named(name))

    assert sent["scope"] == SCOPES[name]
    assert sent["client_id"] == CLIENT_ID
    assert sent["response_type"] == "code"
    assert sent["redirect_uri"] == CALLBACK.format(name)
    assert sent["state"] == flow.state.reveal()


@pytest.mark.parametrize("name", SCOPES)
def test_scopes_of_the_settings_replace_the_defaults(named, name):
    sent, _ = query_of(named(name, SCOPES=["one", "two"]))

    assert sent["scope"] == "one two"


@pytest.mark.parametrize("name", SCOPES)
def test_code_challenge_is_sent_where_pkce_is_supported(named, name):
    provider = named(name)
    sent, flow = query_of(provider)

    assert provider.pkce == (name in PKCE)
    assert (sent.get("code_challenge_method") == "S256") == (name in PKCE)
    assert flow.code_verifier.reveal() not in str(sent)


@pytest.mark.parametrize("name", PKCE)
def test_pkce_can_be_turned_off(named, name):
    sent, _ = query_of(named(name, PKCE=False))

    assert "code_challenge" not in sent


@pytest.mark.parametrize("name", sorted(set(SCOPES) - set(PKCE)))
def test_code_of_a_native_app_is_refused_where_no_verifier_is_checked(named, standin, name):
    with pytest.raises(ProviderError):
        named(name).exchange_native(Secret("code"), Secret("v" * 43), "app:/callback")
    assert standin.requests == []


def test_redirect_uri_with_a_query_stays_one_parameter(named):
    provider = named("github")
    flow = new_flow("github", redirect_uri="https://app.test/cb?a=1&scope=admin")

    sent = dict(parse_qsl(urlsplit(provider.authorization_url(flow)).query))

    assert sent["redirect_uri"] == "https://app.test/cb?a=1&scope=admin"
    assert sent["scope"] == SCOPES["github"]


@pytest.mark.parametrize("name", SCOPES)
def test_real_addresses_are_https_and_of_the_provider(provider, name):
    more = {key: value for key, value in MORE.get(name, {}).items() if value}
    secret = {} if name == "apple" else {"CLIENT_SECRET": "s"}
    built = provider(name, CLIENT_ID="c", **secret, **more)
    # GitLab's are discovered.
    known = [built.authorization_endpoint, built.token_endpoint, built.userinfo_endpoint]
    addresses = [address for address in known if address]

    assert addresses or name == "gitlab"
    assert all(address.startswith("https://") for address in addresses)


# Subjects


@pytest.mark.parametrize(
    "subject",
    [None, "", "  ", "None", "null", 0, False, True, [], {}, 1.5, "x" * 256, "a\nb"],
    ids=repr,
)
def test_missing_or_meaningless_subject_is_refused(named, standin, log_in, subject):
    standin.answers["/user"] = {"id": subject, "email": "ann@example.com", "verified": True}

    with pytest.raises(UserInfoFailed):
        log_in(named("discord"))


@pytest.mark.parametrize("name", SCOPES)
def test_error_of_the_provider_is_never_repeated(named, name):
    provider = named(name)
    with pytest.raises(ProviderError) as raised:
        provider.complete({"error": "<script>", "error_description": "evil"}, new_flow(name))

    assert "script" not in str(raised.value)
    assert "evil" not in str(raised.value)
