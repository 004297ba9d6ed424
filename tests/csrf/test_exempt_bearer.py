"""`CSRF.EXEMPT_BEARER`: a web page with cookies and a mobile app with bearer tokens on one API."""

import json

import pytest
from django.test import Client

from authservice.openapi.document import describe
from tests.csrf.visitor import ACCESS, NAME, REFRESH, Visitor
from tests.support.client import BASE, PASSWORD, Answer, Api
from tests.support.routes import with_a_body

pytestmark = pytest.mark.django_db

REFUSED = (403, "INVALID_CSRF")
EMAIL = "ann@example.com"
OURS = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
EVIL = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
MADE_UP = {"Authorization": "Bearer x"}


@pytest.fixture(autouse=True)
def exempt(configure):
    configure(CSRF={"EXEMPT_BEARER": True}, COOKIES={"ENABLED": True})


@pytest.fixture
def tokens():
    return Visitor().sign_up()


def send(path, body=None, *, method="POST", **headers):
    """A request of a client that keeps no cookies, with exactly these headers."""
    body = json.dumps(body or {})
    kind = "application/json"
    return Answer(Client().generic(method, f"{BASE}{path}", body, kind, headers=headers))


def cookie(**values):
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in values.items())}


def bearer(tokens):
    return {"Authorization": f"Bearer {tokens['access_token']}"}


class TestApp:
    """A client that is no browser."""

    def test_app_signs_up_refreshes_and_logs_out_without_a_pair(self):
        signed_up = send("signup", {"email": EMAIL, "password": PASSWORD})
        refreshed = send("refresh", {"refresh_token": signed_up.data["refresh_token"]})
        logged_in = send("login", {"email": EMAIL, "password": PASSWORD})

        assert (signed_up.status, refreshed.status, logged_in.status) == (201, 200, 200)
        assert send("logout", **bearer(logged_in.data)).status == 200

    @pytest.mark.parametrize("route", with_a_body(), ids=str)
    def test_no_route_refuses_the_app(self, route):
        assert send(route.path, method=route.method).error != REFUSED

    def test_app_gets_no_cookies(self, tokens):
        """A cookie store of the system would send them back, and the next login would need a
        pair."""
        login = send("login", {"email": EMAIL, "password": PASSWORD})
        changed = {"old_password": PASSWORD, "new_password": "another 42 windows"}
        changed = send("change-password", changed, method="PUT", **bearer(login.data))

        assert login.headers["X-Device-Token"]
        assert changed.headers["X-Device-Token"]
        assert not login.response.cookies
        assert not changed.response.cookies

    def test_browser_gets_cookies(self, visitor):
        visitor.post("signup", {"email": EMAIL, "password": PASSWORD}, **OURS)

        assert visitor.cookie(ACCESS)
        assert visitor.cookie("authservice_device")


@pytest.mark.parametrize(
    ("headers", "kept"),
    [({}, False), ({**cookie(theme="dark"), **MADE_UP}, True), ({**OURS, **MADE_UP}, True)],
    ids=["app", "browser with cookies", "browser"],
)
def test_view_of_the_project_sets_cookies_for_browsers_only(settings, headers, kept):
    settings.ROOT_URLCONF = "tests.csrf.urls"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "authservice.csrf.middleware.CsrfMiddleware"]
    given = headers if not kept else {**headers, **bearer(Visitor().sign_up())}

    response = Client().post("/cookie", headers=given)

    assert response.status_code == 200
    assert ("own" in response.cookies) is kept


# Each request to a public route without a pair that must not pass, or may. A public route ignores
# `Authorization`, so that header changes nothing.
_PUBLIC = {
    "nothing": ({}, True),
    "an empty cookie header": ({"Cookie": ""}, True),
    "a made-up token": (MADE_UP, True),
    "another scheme": ({"Authorization": "Basic eDp5"}, True),
    "a device token": ({"X-Device-Token": "x"}, True),
    "a foreign cookie": (cookie(theme="dark"), False),
    "a foreign cookie and a made-up token": ({**cookie(theme="dark"), **MADE_UP}, False),
    "our device cookie": (cookie(authservice_device="x"), False),
    "our refresh cookie": (cookie(**{REFRESH: "x"}), False),
    "our refresh cookie and a made-up token": ({**cookie(**{REFRESH: "x"}), **MADE_UP}, False),
    "our access cookie": (cookie(**{ACCESS: "x"}), False),
    "a tossed csrf cookie": (cookie(**{NAME: "x"}), False),
    "a tossed pair": ({**cookie(**{NAME: "x"}), "X-CSRF-Token": "x"}, False),
    "our origin": ({"Origin": "http://testserver"}, False),
    "our origin and a made-up token": ({**OURS, **MADE_UP}, False),
    "a navigation": ({"Sec-Fetch-Site": "none"}, False),
    "our site": ({"Sec-Fetch-Site": "same-origin"}, False),
    "another site": ({"Sec-Fetch-Site": "cross-site"}, False),
    "another site and a made-up token": ({"Sec-Fetch-Site": "cross-site", **MADE_UP}, False),
    "another origin": ({"Origin": "https://evil.example"}, False),
    "another origin and a made-up token": ({**EVIL, **MADE_UP}, False),
    "no origin that can be named": ({"Origin": "null"}, False),
    "no origin and a made-up token": ({"Origin": "null", **MADE_UP}, False),
}
_ROUTES = ("login", "signup", "refresh", "forgot-password", "invitations/accept")


@pytest.mark.parametrize("path", _ROUTES)
@pytest.mark.parametrize(("headers", "passes"), _PUBLIC.values(), ids=_PUBLIC)
def test_public_route_without_a_pair(path, headers, passes):
    answer = send(path, **headers)

    assert (answer.error != REFUSED) is passes


# The same for a route that requires an access token, with `{token}` for a valid one.
_VALID = {"Authorization": "Bearer {token}"}
_COOKIES = cookie(**{ACCESS: "{token}"})
_PROTECTED = {
    "the token": (_VALID, 200, ""),
    "the token in lower case": ({"Authorization": "bearer {token}"}, 200, ""),
    "the token and our origin": ({**_VALID, **OURS}, 200, ""),
    "the token and a foreign cookie": ({**_VALID, **cookie(theme="dark")}, 200, ""),
    "the token and a tossed csrf cookie": ({**_VALID, **cookie(**{NAME: "x"})}, 200, ""),
    "the token and token cookies": ({**_VALID, **_COOKIES}, 200, ""),
    "the token and another origin": ({**_VALID, **EVIL}, *REFUSED),
    "the token and another site": ({**_VALID, "Sec-Fetch-Site": "same-site"}, *REFUSED),
    "the token and the origin null": ({**_VALID, "Origin": "null"}, *REFUSED),
    "nothing": ({}, 401, "UNAUTHORIZED"),
    "our origin": (OURS, *REFUSED),
    "token cookies": (_COOKIES, *REFUSED),
    "token cookies and our origin": ({**_COOKIES, **OURS}, *REFUSED),
    "token cookies and a made-up token": ({**_COOKIES, **MADE_UP}, 401, "INVALID_TOKEN"),
    "token cookies and an empty token": ({**_COOKIES, "Authorization": "Bearer "}, *REFUSED),
    "token cookies and another scheme": ({**_COOKIES, "Authorization": "Basic eDp5"}, *REFUSED),
    "token cookies and no scheme": ({**_COOKIES, "Authorization": "{token}"}, *REFUSED),
    "token cookies and a tossed pair": (
        {**cookie(**{ACCESS: "{token}", NAME: "x"}), "X-CSRF-Token": "x"},
        *REFUSED,
    ),
    "a long token": ({"Authorization": "Bearer " + 9000 * "x"}, 401, "INVALID_TOKEN"),
}


@pytest.mark.parametrize(("headers", "status", "code"), _PROTECTED.values(), ids=_PROTECTED)
def test_protected_route_without_a_pair(tokens, headers, status, code):
    token = tokens["access_token"]
    headers = {name: text.replace("{token}", token) for name, text in headers.items()}

    answer = send("profile", method="PUT", **headers)

    assert answer.status == status
    assert answer.data.get("code", "") == code


class TestCookies:
    """The browser of the same user needs the pair as before."""

    def test_refresh_by_cookie_needs_the_pair(self, ann):
        ann.token = ""

        assert ann.post("refresh", **OURS).error == REFUSED
        assert ann.post("refresh", bearer="x").error == REFUSED

    def test_refresh_by_cookie_needs_the_pair_of_its_session(self, ann):
        other = Visitor()
        ann.plant(NAME, other.fetch_token())
        ann.token = other.token

        assert ann.post("refresh", **OURS).error == REFUSED

    def test_pair_is_accepted(self, ann):
        assert ann.post("refresh", **OURS).status == 200

    def test_login_of_a_browser_needs_the_pair(self, tokens, visitor):
        visitor.token = ""

        answer = visitor.post("login", {"email": EMAIL, "password": PASSWORD}, **OURS)

        assert answer.error == REFUSED
        assert not visitor.cookie(ACCESS)


class TestHostViews:
    @pytest.fixture(autouse=True)
    def _views(self, settings):
        settings.ROOT_URLCONF = "tests.csrf.urls"
        settings.MIDDLEWARE = [
            *settings.MIDDLEWARE,
            "authservice.csrf.middleware.CsrfMiddleware",
        ]

    @pytest.mark.parametrize(
        ("headers", "passes"),
        [
            ({}, True),
            ({"Authorization": "Bearer {token}"}, True),
            ({"Authorization": "Bearer {token}", "Cookie": "sessionid=x", **OURS}, True),
            ({"Authorization": "Bearer {token}", **EVIL}, False),
            ({"Authorization": "Bearer {token}", "Origin": "null"}, False),
            ({"Cookie": "sessionid=x"}, False),
            (OURS, False),
            # These leave the user to Django's session, which is a cookie.
            ({"Authorization": "Bearer x", "Cookie": "sessionid=x"}, False),
            ({"Authorization": "Basic eDp5", "Cookie": "sessionid=x"}, False),
            ({"Authorization": "Bearer x", **OURS}, False),
        ],
    )
    @pytest.mark.parametrize("path", ["/form", "/notes", "/later"])
    def test_view_without_a_pair(self, tokens, path, headers, passes):
        token = tokens["access_token"]
        headers = {name: text.replace("{token}", token) for name, text in headers.items()}

        response = Client().post(path, headers=headers)

        assert (response.status_code != 403) is passes


def test_everything_needs_the_pair_by_default(configure, tokens):
    configure(CSRF={})

    assert send("login").error == REFUSED
    assert send("profile", method="PUT", **bearer(tokens)).error == REFUSED
    assert Api(paired=False).post("login").error == REFUSED


def test_description_names_clients_without_the_pair():
    paths = describe()["paths"]
    [login], [logout] = (paths[path]["post"]["parameters"] for path in ("/login", "/logout"))

    assert login == logout
    assert "clients that send cookies" in login["description"]
