"""Links in messages are built from the settings only, never from headers of a request."""

from urllib.parse import urlsplit

import pytest
from django.urls.base import clear_script_prefix, set_script_prefix

from authservice.core.messages import kinds
from tests.support.flows import ANN
from tests.support.messenger.post import query

pytestmark = pytest.mark.django_db

API = "https://api.example.com"
APP = "https://app.example.com"
PLUS = "ann+news@example.com"
POISON = [
    {"Host": "evil.example"},
    {"X-Forwarded-Host": "evil.example"},
    {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", "X-Forwarded-Port": "81"},
    {"Forwarded": "host=evil.example;proto=http"},
    {"Origin": "https://evil.example"},
    {"Referer": "https://evil.example/"},
    {"X-Script-Name": "/evil"},
]


@pytest.fixture
def links(api, ann, post):
    """Requests a reset link and a verification link; returns their URLs without the query."""

    def ask(**headers):
        api.post("forgot-password", email=ANN, headers=headers)
        api.post("send-verification-email", email=ANN, headers=headers)
        return tuple(
            post.link(kind).partition("?")[0] for kind in (kinds.RESET_BY_LINK, kinds.VERIFY_EMAIL)
        )

    return ask


@pytest.fixture
def under():
    """`under("/app/")` sets the script prefix, as the server does where the worker runs in it."""
    yield set_script_prefix
    clear_script_prefix()


@pytest.mark.parametrize(
    ("settings_", "reset", "verify"),
    [
        ({"API_URL": API}, f"{API}/auth/reset-password", f"{API}/auth/verify-email"),
        ({"API_URL": f"{API}/"}, f"{API}/auth/reset-password", f"{API}/auth/verify-email"),
        (
            {"API_URL": API, "FRONTEND": {"URL": APP}},
            f"{APP}/reset-password",
            f"{API}/auth/verify-email",
        ),
        (
            {"API_URL": API, "FRONTEND": {"URL": f"{APP}/", "RESET_PASSWORD_PATH": "/new"}},
            f"{APP}/new",
            f"{API}/auth/verify-email",
        ),
        (
            {"API_URL": API, "FRONTEND": {"URL": f"{APP}/de", "RESET_PASSWORD_PATH": "new"}},
            f"{APP}/de/new",
            f"{API}/auth/verify-email",
        ),
        (
            {"API_URL": API, "FRONTEND": {"RESET_PASSWORD_PATH": "/new"}},
            f"{API}/auth/new",
            f"{API}/auth/verify-email",
        ),
        (
            {"API_URL": API, "FRONTEND": {"URL": APP, "VERIFY_EMAIL_CALLBACK_PATH": "/done"}},
            f"{APP}/reset-password",
            f"{API}/auth/verify-email",
        ),
    ],
)
def test_links_use_the_urls_of_the_settings(links, configure, settings_, reset, verify):
    configure(**settings_)

    assert links() == (reset, verify)


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "\\\\evil.example", "@evil.example", ".evil.example", ":80@evil.example"],
)
@pytest.mark.parametrize("origin", [APP, f"{APP}/", f"{APP}/de"])
def test_link_leads_to_the_front_end_whatever_its_path_is(links, configure, origin, path):
    configure(API_URL=API, FRONTEND={"URL": origin, "RESET_PASSWORD_PATH": path})

    reset, _ = links()

    # Browsers take a backslash for a slash.
    assert reset.replace("\\", "/").startswith(f"{APP}/")


@pytest.mark.parametrize("poison", POISON, ids=str)
def test_links_ignore_the_headers_of_a_request(links, configure, settings, poison):
    configure(API_URL=API)
    settings.ALLOWED_HOSTS = ["*"]
    settings.USE_X_FORWARDED_HOST = settings.USE_X_FORWARDED_PORT = True

    assert links(**poison) == (f"{API}/auth/reset-password", f"{API}/auth/verify-email")


@pytest.mark.parametrize("prefix", ["/", "/app/", "/evil/"])
def test_links_take_the_script_prefix_from_api_url_only(links, configure, under, prefix):
    configure(API_URL=f"{API}/app")
    under(prefix)

    assert links() == (f"{API}/app/auth/reset-password", f"{API}/app/auth/verify-email")


def test_links_follow_the_mount_point_of_the_urls(links, post, configure, settings):
    configure(API_URL=API)
    links()
    settings.ROOT_URLCONF = "tests.support.deeper_urls"

    assert post.link(kinds.VERIFY_EMAIL).startswith(f"{API}/api/v1/accounts/verify-email?")


def test_links_contain_token_and_address_only(links, post):
    links()

    for kind in (kinds.RESET_BY_LINK, kinds.VERIFY_EMAIL):
        named = query(post.link(kind))
        assert list(named) == ["token", "email"]
        assert named["email"] == ANN


def test_link_with_a_plus_in_the_address_works(api, flows, post):
    api.sign_up(PLUS)
    link = post.link(kinds.VERIFY_EMAIL)

    assert api.get(f"verify-email?{urlsplit(link).query}").status == 200


def test_link_contains_the_stored_address_not_the_typed_one(api, ann, post):
    api.post("forgot-password", email="ANN@EXAMPLE.COM")

    assert query(post.link(kinds.RESET_BY_LINK))["email"] == ANN
    assert post.outgoing(kinds.RESET_BY_LINK).to == ANN


def test_token_in_a_link_needs_no_escaping(flows, post, ann):
    token = flows.reset_token()

    assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize(
    ("kind", "path", "hours"),
    [
        (kinds.RESET_BY_LINK, "forgot-password", 1),
        (kinds.VERIFY_EMAIL, "send-verification-email", 24),
    ],
)
def test_message_says_how_long_its_link_is_valid(api, ann, post, kind, path, hours):
    api.post(path, email=ANN)

    assert post.outgoing(kind).context["expires_in"].total_seconds() == hours * 3600


def test_repr_of_a_message_contains_no_secret(api, ann, post):
    api.post("forgot-password", email=ANN)
    message = post.outgoing(kinds.RESET_BY_LINK)

    assert query(message.context["link"].reveal())["token"] not in repr(message)
