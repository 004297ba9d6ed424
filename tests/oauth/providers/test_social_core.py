"""Back ends of social-auth-core as providers, over our own requests."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import override_settings

from authservice.oauth import provider_settings as declared
from authservice.oauth.provider import Profile, TokenExchangeFailed, UserInfoFailed
from tests.oauth.providers.conftest import LOOPBACK, new_flow

# A package that social-auth-core imports warns of itself.
pytestmark = pytest.mark.filterwarnings("ignore:defusedxml:DeprecationWarning")
BACKEND = "tests.oauth.providers.own_backend.MusicOAuth2"


@pytest.fixture
def music(provider, standin):
    standin.answers["/user"] = {"uid": 7, "mail": "ann@example.com", "name": "Ann Lee"}
    more = {"BACKEND": BACKEND, "BACKEND_SETTINGS": {"API": standin.url}}
    return lambda **keys: provider("music", **{**standin.settings(**more), **keys})


def test_user_of_a_back_end_logs_in_with_pkce(music, log_in, standin):
    result = log_in(music())

    assert result.profile == Profile(subject="7", email="ann@example.com", name="Ann Lee")
    assert "code_verifier" in standin.asked("/token")[0]
    assert standin.asked("/user") == [{"fields": "uid,mail"}]
    assert standin.requests[-1][2]["Authorization"] == "OAuth access-1"


def test_authorization_request_has_endpoint_scopes_and_state_of_the_flow(provider):
    music = provider("music", BACKEND=BACKEND, CLIENT_ID="c", CLIENT_SECRET="s")
    flow = new_flow("music")
    parts = urlsplit(music.authorization_url(flow))
    sent = dict(parse_qsl(parts.query))

    assert f"{parts.netloc}{parts.path}" == "music.example.com/authorize"
    assert (sent["theme"], sent["scope"], sent["client_id"]) == ("dark", "read,mail", "c")
    assert sent["state"] == flow.state.reveal()
    assert sent["redirect_uri"] == flow.redirect_uri


def test_address_of_a_back_end_is_never_verified(music, log_in, standin):
    standin.answers["/user"]["email_verified"] = True

    assert log_in(music()).profile.email_verified is False


@pytest.mark.parametrize(
    "answer",
    [{}, [], None, {"uid": None, "mail": "a"}, {"uid": "None", "mail": "a"}, (401, {}), b"<"],
    ids=repr,
)
def test_profile_that_a_back_end_cannot_read_is_refused(music, log_in, standin, answer):
    standin.answers["/user"] = answer

    with pytest.raises(UserInfoFailed):
        log_in(music())


def test_requests_of_a_back_end_obey_the_rules_of_outbound_requests(music, log_in, configure):
    provider = music(BACKEND_SETTINGS={"API": "http://169.254.169.254"})

    with pytest.raises(UserInfoFailed):
        log_in(provider)


def test_redirect_is_not_followed_for_a_back_end(music, log_in, standin):
    standin.headers["Location"] = f"{standin.url}/elsewhere"
    standin.answers["/user"] = (302, {})

    with pytest.raises(UserInfoFailed):
        log_in(music())
    assert standin.asked("/elsewhere") == []


def test_wrong_client_secret_is_refused(music, log_in):
    with pytest.raises(TokenExchangeFailed):
        log_in(music(CLIENT_SECRET="wrong"))


@override_settings(SOCIAL_AUTH_MUSIC_SCOPE=["evil"], KEY="evil", SOCIAL_AUTH_KEY="evil")
def test_settings_of_the_project_have_no_say(music):
    address = music().authorization_url(new_flow("music"))

    assert "evil" not in address


@pytest.mark.parametrize(
    "path",
    [
        "spotify.SpotifyOAuth2",
        "yandex.YandexOAuth2",
        "bitbucket.BitbucketOAuth2",
        "dropbox.DropboxOAuth2V2",
    ],
)
def test_back_ends_of_social_core_can_be_named(configure, provider, path):
    keys = {"BACKEND": f"social_core.backends.{path}", "CLIENT_ID": "c", "CLIENT_SECRET": "s"}
    built = provider("other", **keys)

    assert list(declared.check_providers()) == []
    assert built.authorization_url(new_flow("other")).startswith("https://")
    assert built.token_url().startswith("https://")


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        ("social_core.backends.nobody.Nobody", "cannot be imported"),
        ("social_core.backends.twitter.TwitterOAuth", "not an OAuth 2.0 back end"),
        ("os.path.join", "not an OAuth 2.0 back end"),
    ],
)
def test_back_end_that_cannot_be_used_is_found(configure, backend, text):
    keys = {"BACKEND": backend, "CLIENT_ID": "c", "CLIENT_SECRET": "s"}
    configure(OAUTH={"PROVIDERS": {"other": keys}}, OUTBOUND={"PRIVATE_HOSTS": LOOPBACK})
    [found] = declared.check_providers()

    assert text in found.msg
