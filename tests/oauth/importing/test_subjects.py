"""Only identifiers that our provider sees as subjects are imported: another one would let somebody
else in, or nobody."""

import pytest
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.gitlab.provider import GitLabProvider
from social_core.backends.gitlab import GitLabOAuth2

from authservice.oauth.models import LinkedAccount
from tests.oauth.importing.conftest import GITHUB, GOOGLE, allauth, social
from tests.oauth.in_process import SETTINGS
from tests.oauth.providers.conftest import APPLE_KEY

pytestmark = pytest.mark.django_db
PAIRWISE = "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ"
GRAPH = "48d31887-5fad-4d73-a9f5-3c356e68a038"
APPLE = {"TEAM_ID": "TEAM123456", "KEY_ID": "KEY1234567", "PRIVATE_KEY": APPLE_KEY}


def subjects():
    return dict(LinkedAccount.objects.values_list("provider", "subject"))


@pytest.fixture
def all_configured(configure):
    keys = {"CLIENT_ID": "our-client", "CLIENT_SECRET": "our-secret"}
    named = ("discord", "facebook", "github", "gitlab", "google", "linkedin", "microsoft", "slack")
    apple = {"CLIENT_ID": "our-client", **APPLE}
    configure(OAUTH={"PROVIDERS": {"apple": apple, **dict.fromkeys(named, keys)}})


@pytest.fixture(autouse=True)
def _same_clients(all_configured, settings):
    settings.SOCIAL_AUTH_FACEBOOK_KEY = "our-client"
    settings.SOCIAL_AUTH_LINKEDIN_OPENIDCONNECT_KEY = "our-client"
    settings.SOCIAL_AUTH_APPLE_ID_TEAM = "TEAM123456"
    settings.SOCIALACCOUNT_PROVIDERS = {
        "facebook": {"APP": {"client_id": "our-client", "secret": ""}},
        "apple": {"APP": {"client_id": "our-client", "key": "TEAM123456", "secret": ""}},
    }


@pytest.mark.parametrize(
    ("theirs", "uid", "claim", "ours"),
    [
        ("apple-id", "000123.0123456789abcdef0123456789abcdef.0456", "sub", "apple"),
        ("discord", "80351110224678912", "id", "discord"),
        ("facebook", "10158765432109876", "id", "facebook"),
        ("github", GITHUB, "", "github"),
        ("github-org", GITHUB, "id", "github"),
        ("gitlab", "42", "id", "gitlab"),
        ("google-oauth2", GOOGLE, "", "google"),
        ("google-oauth2", GOOGLE, "sub", "google"),
        ("linkedin-openidconnect", "782bbtaQ", "sub", "linkedin"),
        ("microsoft-graph", GRAPH, "id", "microsoft"),
        ("microsoft-graph", "b11a3c0b5a1f5c5d", "", "microsoft"),
    ],
)
def test_subjects_of_social_auth_are_imported(run, old_user, theirs, uid, claim, ours):
    social(old_user, theirs, uid, id_key=claim)

    run("social_django")

    assert subjects() == {ours: uid}


@pytest.mark.parametrize(
    ("theirs", "uid", "claim", "reason"),
    [
        ("google-oauth2", "ann@example.com", "", "is not a number"),
        ("google-oauth2", GOOGLE, "email", "the identifier is `email`"),
        ("azuread-oauth2", "ann@example.com", "", "not the `id` of Microsoft Graph"),
        ("azuread-v2-tenant-oauth2", PAIRWISE, "", "not the `id` of Microsoft Graph"),
        ("azuread-v2-tenant-oauth2", GRAPH, "sub", "the identifier is `sub`"),
        (
            "azuread-tenant-oauth2",
            "00000000-0000-0000-b11a-3c0b5a1f5c5d",
            "oid",
            "not the `id` of Microsoft Graph",
        ),
        ("slack", "U0R7JM", "id", "not a workspace with a user"),
        ("github", "ann", "login", "the identifier is `login`"),
        ("github", "ann", "", "is not a number"),
        ("github", "\N{ARABIC-INDIC DIGIT ONE}", "", "is not a number"),
        ("github", "0", "", "empty, too long or a text such as 'None'"),
        ("google-oauth2", "None", "", "empty, too long or a text such as 'None'"),
        ("google-oauth2", "nil", "", "empty, too long or a text such as 'None'"),
        ("apple-id", "ann@example.com", "", "not an identifier of the provider"),
        ("linkedin-oauth2", "782bbtaQ", "", "has no counterpart; name one with --map"),
        ("github-enterprise", GITHUB, "", "has no counterpart"),
    ],
)
def test_other_identifiers_of_social_auth_are_skipped(run, old_user, theirs, uid, claim, reason):
    social(old_user, theirs, uid, id_key=claim)

    assert reason in run("social_django")
    assert subjects() == {}


@pytest.mark.parametrize("name", ["SOCIAL_AUTH_GITHUB_ID_KEY", "SOCIAL_AUTH_ID_KEY"])
def test_setting_of_the_identifier_decides_where_the_row_does_not(run, old_user, settings, name):
    setattr(settings, name, "employee_number")
    social(old_user, "github", GITHUB)

    assert "the identifier is `employee_number`" in run("social_django")
    assert subjects() == {}


@pytest.mark.parametrize(
    ("provider", "uid", "subject"),
    [
        ("apple", "000123.0123456789abcdef0123456789abcdef.0456", None),
        ("discord", "80351110224678912", None),
        ("facebook", "10158765432109876", None),
        ("github", GITHUB, None),
        ("gitlab", "42", None),
        ("google", GOOGLE, None),
        ("microsoft", GRAPH, None),
        ("slack", "T0R7GR_U0R7JM", "T0R7GR-U0R7JM"),
    ],
)
def test_subjects_of_allauth_are_imported(run, old_user, provider, uid, subject):
    allauth(old_user, provider, uid)

    run("allauth")

    assert subjects() == {provider: subject or uid}


def test_retired_linkedin_of_allauth_is_skipped(run, old_user):
    allauth(old_user, "linkedin_oauth2", "782bbtaQ")

    assert "'linkedin_oauth2': has no counterpart" in run("allauth")
    assert subjects() == {}


def test_provider_that_is_not_configured_is_skipped(run, old_user, configure):
    configure(OAUTH={"PROVIDERS": {"acme": SETTINGS}})
    social(old_user)

    assert "'google' is not in OAUTH.PROVIDERS" in run("social_django")
    assert subjects() == {}


def test_own_class_under_a_known_name_needs_a_confirmation(run, old_user, configure):
    configure(OAUTH={"PROVIDERS": {"google": SETTINGS}})
    social(old_user)

    assert "has a class or settings of your own; confirm with --map" in run("social_django")
    assert subjects() == {}

    run("social_django", "--map", "google-oauth2=google")
    assert subjects() == {"google": GOOGLE}


class OwnGitLab(GitLabOAuth2):
    """A back end of the project, with a server that no setting names."""

    API_URL = "https://git.example.com"


class OwnProvider(GitLabProvider):
    """A provider of the project under the name of one of allauth."""


def test_own_back_end_of_social_auth_needs_a_confirmation(run, old_user, settings):
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.OwnGitLab"]
    social(old_user, "gitlab", "42")

    assert "'gitlab': has a class or settings of your own; confirm" in run("social_django")
    assert subjects() == {}


def test_own_provider_of_allauth_needs_a_confirmation(run, old_user, monkeypatch):
    registry.load()
    monkeypatch.setitem(registry.provider_map, "gitlab", OwnProvider)
    allauth(old_user, "gitlab", "42")

    assert "'gitlab': has a class or settings of your own; confirm" in run("allauth")
    assert subjects() == {}


# Users of another server have the same numbers, and would log in to accounts of others.


@pytest.mark.parametrize("provider", ["gitlab", "github"])
def test_numbers_of_another_server_are_skipped(run, old_user, settings, provider):
    settings.SOCIAL_AUTH_GITLAB_API_URL = "https://git.example.com"
    settings.SOCIAL_AUTH_GITHUB_URL = "https://git.example.com"
    settings.SOCIALACCOUNT_PROVIDERS = {
        "gitlab": {"GITLAB_URL": "https://git.example.com"},
        "github": {"GITHUB_URL": "https://git.example.com/"},
    }
    social(old_user, provider, "42")
    allauth(old_user, provider, "42")

    for source in ("social_django", "allauth"):
        assert "are those of the server git.example.com" in run(source)
        assert "are those of the server git.example.com" in run(
            source, "--map", f"{provider}={provider}"
        )
    assert subjects() == {}


def test_our_server_is_another_one(run, old_user, configure):
    keys = {"CLIENT_ID": "a", "CLIENT_SECRET": "b", "ISSUER": "https://git.example.com"}
    configure(OAUTH={"PROVIDERS": {"gitlab": keys}})
    social(old_user, "gitlab", "42")
    allauth(old_user, "gitlab", "42")

    assert "ours of git.example.com" in run("social_django")
    assert "ours of git.example.com" in run("allauth")
    assert subjects() == {}


def test_app_of_allauth_with_an_own_server_is_skipped(run, old_user):
    from allauth.socialaccount.models import SocialApp

    SocialApp.objects.create(
        provider="gitlab",
        client_id="our-client",
        settings={"gitlab_url": "https://git.example.com"},
    )
    allauth(old_user, "gitlab", "42")

    assert "are those of the server git.example.com" in run("allauth")
    assert subjects() == {}


def test_openid_app_with_the_name_of_a_provider_is_skipped(run, old_user):
    from allauth.socialaccount.models import SocialApp

    SocialApp.objects.create(provider="openid_connect", provider_id="google", client_id="other")
    allauth(old_user, "google", "42")

    assert "an app of another kind has the name of this provider" in run("allauth")
    assert subjects() == {}


def test_openid_app_with_another_identifier_is_skipped(run, old_user, configure):
    from allauth.socialaccount.models import SocialApp

    keys = {"CLIENT_ID": "a", "CLIENT_SECRET": "b", "ISSUER": "https://sso.example.com"}
    configure(OAUTH={"PROVIDERS": {"sso": keys}})
    SocialApp.objects.create(
        provider="openid_connect",
        provider_id="company",
        client_id="a",
        settings={"server_url": "https://sso.example.com", "uid_field": "email"},
    )
    allauth(old_user, "company", "ann")

    assert "its uid is not the claim `sub`" in run("allauth", "--map", "company=sso")
    assert subjects() == {}


def test_openid_provider_with_another_issuer_is_skipped(run, old_user, configure, settings):
    keys = {"CLIENT_ID": "a", "CLIENT_SECRET": "b", "ISSUER": "https://sso.example.com/realms/b"}
    configure(OAUTH={"PROVIDERS": {"sso": keys}})
    settings.SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "https://sso.example.com/realms/a"
    social(old_user, "oidc", "ann")

    assert "the server sso.example.com/realms/a" in run("social_django", "--map", "oidc=sso")
    assert subjects() == {}


# Facebook and LinkedIn give each application other identifiers, Apple each team.


@pytest.mark.parametrize(
    ("provider", "setting", "uid"),
    [
        ("facebook", "SOCIAL_AUTH_FACEBOOK_KEY", "10158765432109876"),
        ("apple-id", "SOCIAL_AUTH_APPLE_ID_TEAM", "000123.0123456789abcdef.0456"),
        ("linkedin-openidconnect", "SOCIAL_AUTH_LINKEDIN_OPENIDCONNECT_KEY", "782bbtaQ"),
    ],
)
def test_identifiers_of_another_client_are_skipped(run, old_user, settings, provider, setting, uid):
    social(old_user, provider, uid)
    setattr(settings, setting, "other-client")

    assert "are those of the client other-client" in run("social_django")

    delattr(settings, setting)
    assert "its client is not in the settings; confirm with --map" in run("social_django")
    assert subjects() == {}

    run("social_django", "--map", f"{provider}={provider.partition('-')[0]}")
    assert list(subjects().values()) == [uid]


def test_identifiers_of_another_client_of_allauth_are_skipped(run, old_user, settings):
    settings.SOCIALACCOUNT_PROVIDERS = {
        "facebook": {"APP": {"client_id": "other-client", "secret": ""}}
    }
    allauth(old_user, "facebook", "10158765432109876")

    assert "are those of the client other-client" in run("allauth")
    assert subjects() == {}
