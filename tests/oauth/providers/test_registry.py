"""Which providers are configured, and the checks of their settings."""

import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from authservice.oauth import provider_settings as declared
from authservice.oauth.provider import Profile
from tests.oauth.providers.conftest import APPLE_KEY, new_flow

KEYS = {"CLIENT_ID": "c", "CLIENT_SECRET": "s"}
APPLE = {"CLIENT_ID": "c", "TEAM_ID": "t", "KEY_ID": "k", "PRIVATE_KEY": APPLE_KEY}
SSO = {"ISSUER": "https://sso.example.com", **KEYS}
OWN = "tests.oauth.providers.own.Forum"


def test_providers_are_in_the_order_of_the_settings(provider_settings):
    provider_settings(github=KEYS, sso=SSO, google={**KEYS, "ENABLED": False})

    assert list(declared.configured()) == ["github", "sso", "google"]
    assert declared.find_provider("github").enabled
    assert not declared.find_provider("google").enabled
    assert declared.find_provider("discord") is None


def test_any_number_of_openid_providers(provider_settings):
    provider_settings(one=SSO, two={**SSO, "ISSUER": "https://two.example.com"})

    assert declared.find_provider("one").issuer == "https://sso.example.com"
    assert declared.find_provider("two").issuer == "https://two.example.com"


def test_settings_that_change_are_read_again(provider_settings):
    provider_settings(github=KEYS)
    assert declared.find_provider("github").client_id == "c"

    provider_settings(github={**KEYS, "CLIENT_ID": "d"})

    assert declared.find_provider("github").client_id == "d"


def test_provider_of_ones_own_logs_in(provider, standin, log_in):
    standin.answers["/user"] = {"member_id": 7, "mail": "a@x.test", "nick": "Ann"}
    forum = provider("forum", CLASS=OWN, BOARD="chess", **standin.settings())

    assert log_in(forum).profile == Profile(subject="7", email="a@x.test", name="Ann (chess)")


@pytest.mark.parametrize("name", ["github", "google", "sso"])
def test_provider_keeps_nothing_of_a_login(named, provider, standin, log_in, name):
    """It is shared by all requests of the process."""
    standin.claims = {"email": "ann@example.com", "email_verified": True}
    standin.answers["/user"] = {"id": 7, "login": "ann"}
    standin.answers["/user/emails"] = []
    built = provider("sso", **standin.openid_settings()) if name == "sso" else named(name)
    log_in(built)
    before = dict(vars(built))

    log_in(built)

    assert vars(built) == before


def test_class_replaces_a_built_in_provider(provider):
    assert (
        provider("github", CLASS=OWN, **KEYS).userinfo_url() == "https://forum.example.com/api/me"
    )


def test_further_parameters_replace_none_of_the_protocol(provider):
    more = {"prompt": "consent", "client_id": "evil", "state": "evil"}
    address = provider("github", **KEYS, AUTHORIZATION_PARAMETERS=more).authorization_url(
        new_flow("github")
    )

    assert "prompt=consent" in address
    assert "evil" not in address


GOOD = [
    {},
    {"google": KEYS, "github": KEYS, "microsoft": KEYS, "discord": KEYS, "facebook": KEYS},
    {"gitlab": {**KEYS, "ISSUER": "https://git.example.com"}, "slack": KEYS, "linkedin": KEYS},
    {"apple": {**APPLE, "NATIVE_CLIENT_IDS": ["com.example.app"]}},
    {"sso": SSO, "another-sso_2": SSO},
    {"public": {"ISSUER": "https://sso.example.com", "CLIENT_ID": "c"}},
    {"forum": {**KEYS, "CLASS": OWN, "BOARD": "chess"}},
    {"google": {**KEYS, "PKCE": False, "SCOPES": ["openid"], "REDIRECT_URL": "https://a.test/c"}},
    {"linkedin": {**KEYS, "PKCE": False}},
]
TENANT = "11111111-2222-3333-4444-555555555555"
BAD = [
    ({"providers": SSO}, "E201", "path of this module"),
    ({"linked": SSO}, "E201", "path of this module"),
    ({"Google": KEYS}, "E201", "lower-case"),
    ({"a/b": SSO}, "E201", "lower-case"),
    ({"": SSO}, "E201", "lower-case"),
    ({7: SSO}, "E201", "lower-case"),
    ({"x" * 64: SSO}, "E201", "lower-case"),
    ({"google": "secret"}, "E202", "must be a dict"),
    ({"gogle": KEYS}, "E202", "ISSUER"),
    ({"google": {}}, "E202", "['CLIENT_ID'] is missing"),
    ({"google": {"CLIENT_ID": "c"}}, "E202", "['CLIENT_SECRET'] is missing"),
    ({"google": {**KEYS, "SCOPE": ["openid"]}}, "E202", "Did you mean 'SCOPES'?"),
    ({"google": {**KEYS, "scopes": ["openid"]}}, "E202", "not a setting"),
    ({"google": {**KEYS, "SCOPES": 5}}, "E202", "must be a list"),
    (
        {"google": {**KEYS, "PKCE": False, "NATIVE_REDIRECT_URIS": ["com.example:/x"]}},
        "E202",
        "requires PKCE, which must not be False",
    ),
    ({"google": {**KEYS, "PKCE": "no"}}, "E202", "must be True or False"),
    ({"google": {**KEYS, "CLIENT_SECRET": 7}}, "E202", "must be a string"),
    ({"google": {**KEYS, "TENANT": "common"}}, "E202", "not a setting"),
    ({"google": {**KEYS, "REDIRECT_URL": "/callback"}}, "E202", "not an http or https URL"),
    ({"google": {**KEYS, "TOKEN_URL": "ftp://a.test"}}, "E202", "not an http or https URL"),
    ({"sso": {**KEYS, "ISSUER": ""}}, "E202", "['ISSUER'] is missing"),
    ({"sso": {**SSO, "CLIENT_AUTH": "jwt"}}, "E202", "one of"),
    ({"sso": {"ISSUER": "https://a.test", "CLIENT_ID": "c", "PKCE": False}}, "E202", "PKCE"),
    ({"forum": {**KEYS, "CLASS": "no.such.Provider"}}, "E202", "cannot be imported"),
    ({"apple": KEYS}, "E202", "['PRIVATE_KEY'] is missing"),
    ({"apple": {**APPLE, "PRIVATE_KEY": "secret key"}}, "E202", "not a private key"),
    ({"apple": {**APPLE, "CLIENT_SECRET": "s"}}, "E202", "is not used"),
    ({"microsoft": {**KEYS, "TENANT": "contoso"}}, "E202", "TENANT"),
    ({"microsoft": {**KEYS, "TRUST_TENANT_EMAIL": True}}, "E202", "one tenant"),
    ({"slack": {**KEYS, "NATIVE_REDIRECT_URIS": ["app:/cb"]}}, "E202", "requires PKCE"),
    ({"linkedin": {**KEYS, "PKCE": True}}, "W203", "does not support PKCE"),
    ({"apple": {**APPLE, "PKCE": True}}, "W203", "does not support PKCE"),
]


@pytest.mark.parametrize("providers", GOOD, ids=lambda given: "-".join(given))
def test_valid_settings_pass_the_checks(configure, providers):
    configure(OAUTH={"PROVIDERS": providers})

    assert list(declared.check_providers()) == []
    assert list(declared.configured()) == list(providers)


@pytest.mark.parametrize(("providers", "number", "text"), BAD, ids=range(len(BAD)))
def test_invalid_settings_are_found(configure, providers, number, text):
    configure(OAUTH={"PROVIDERS": providers})
    found = list(declared.check_providers())

    assert f"authservice.{number}" in [message.id for message in found]
    assert text in " ".join(message.msg for message in found)
    assert "secret key" not in str(found)


def test_provider_with_invalid_settings_cannot_be_used(configure):
    configure(OAUTH={"PROVIDERS": {"google": {"CLIENT_ID": "c"}}})

    with pytest.raises(ImproperlyConfigured, match="CLIENT_SECRET"):
        declared.find_provider("google")


def test_settings_show_no_secrets(provider):
    built = provider("apple", **APPLE)

    assert "PRIVATE KEY" not in repr(built.settings)
    assert "Secret(...)" in repr(built.settings)


def test_module_without_use_loads_no_provider():
    code = (
        "import authservice.oauth, sys;"
        "print([name for name in sys.modules if 'oauth.providers' in name or 'urllib3' in name])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
