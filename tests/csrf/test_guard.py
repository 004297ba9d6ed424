"""The guard: every request that changes something needs a valid pair of CSRF cookie and header."""

import pytest
from django.test import RequestFactory

from authservice.core.api.endpoint import Endpoint
from authservice.csrf import guard
from authservice.kernel import secret
from authservice.kernel.http.envelope import answer
from tests.contract.shapes import is_refusal
from tests.csrf.visitor import NAME, Visitor
from tests.support.client import PASSWORD, Api
from tests.support.people import users
from tests.support.routes import endpoints, with_a_body

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}
REFUSED = (403, "INVALID_CSRF")
# POST /magic-link/verify may be added. Each is a form that contains a proof of its own.
UNGUARDED = {
    "account/delete",
    "account/secure",
    "change-email/confirm",
    "verify-email",
    "oauth/<str:provider>/callback",
}
_PATHS = {path.replace("<str:provider>", "1") for path in UNGUARDED}
GUARDED = [route for route in with_a_body() if route.path not in _PATHS]


@pytest.mark.parametrize("route", GUARDED, ids=str)
def test_route_that_changes_something_needs_the_pair(route):
    answer = Api(paired=False).request(route.method, route.path, {})

    assert is_refusal(answer, 403, "INVALID_CSRF")


@pytest.mark.parametrize("route", GUARDED, ids=str)
def test_route_with_a_bearer_token_needs_the_pair_too(route):
    token = Api().sign_up()["access_token"]

    answer = Api(paired=False).request(route.method, route.path, {}, token=token)

    assert answer.error == REFUSED


@pytest.mark.parametrize("route", with_a_body(), ids=str)
def test_route_with_the_pair_is_not_refused(visitor, route):
    assert visitor.ask(route.method, route.path).error != REFUSED


def test_exempt_routes_are_the_known_ones_and_public():
    guard_exempt = [(path, view.cls) for path, view in endpoints() if view.cls.guard_exempt]

    assert {path for path, _ in guard_exempt} == UNGUARDED
    assert [path for path, cls in guard_exempt if not cls.public] == []


def test_exempt_view_needs_no_pair():
    class Form(Endpoint):
        public = True
        guard_exempt = True

        def take(self):
            return answer("taken")

    response = Form.as_view({"post": "take"})(
        RequestFactory().post("/form", content_type="application/json")
    )

    assert response.status_code == 200


def test_signup_with_the_pair_succeeds(visitor):
    assert visitor.sign_up()["access_token"]


def test_signup_refused_creates_no_user():
    Api(paired=False).post("signup", **ANN)

    assert users() == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_method_that_changes_nothing_needs_no_pair(method):
    assert Api(paired=False).request(method, "verify-email").status != 403


def test_unknown_route_or_method_is_reported_before_a_missing_pair():
    api = Api(paired=False)

    assert api.post("nowhere").error == (404, "NOT_FOUND")
    assert api.request("DELETE", "login").error == (405, "METHOD_NOT_ALLOWED")


def test_pair_is_checked_before_the_caller_is_identified():
    assert Api(paired=False).post("logout").error == REFUSED
    assert Api().post("logout").error == (401, "UNAUTHORIZED")


class TestPair:
    """Cookie and header are equal and issued by the service."""

    def test_pair_without_header_is_refused(self, visitor):
        visitor.token = ""

        assert visitor.post("signup", ANN).error == REFUSED

    def test_pair_without_cookie_is_refused(self, visitor):
        del visitor.client.cookies[NAME]

        assert visitor.post("signup", ANN).error == REFUSED

    def test_pair_of_empty_values_is_refused(self, visitor):
        visitor.plant(NAME, "")
        visitor.token = ""

        assert visitor.post("signup", ANN, X_CSRF_Token="").error == REFUSED

    def test_header_with_the_token_of_another_browser_is_refused(self, visitor):
        visitor.token = Visitor().fetch_token()

        assert visitor.post("signup", ANN).error == REFUSED

    def test_header_with_an_earlier_token_is_refused(self, visitor):
        earlier = visitor.token
        visitor.fetch_token()
        visitor.token = earlier

        assert visitor.post("signup", ANN).error == REFUSED

    @pytest.mark.parametrize("length", [1, 10, 60, -1, -2, -43, -44, -51])
    def test_token_truncated_in_cookie_and_header_is_refused(self, visitor, length):
        self.send_both(visitor, visitor.token[:length])

    def test_token_with_swapped_parts_is_refused(self, visitor):
        body, _, signature = visitor.token.rpartition(":")

        self.send_both(visitor, f"{signature}:{body}")

    def test_token_with_the_mac_of_another_token_is_refused(self, visitor):
        body = visitor.token.rpartition(":")[0]
        signature = Visitor().fetch_token().rpartition(":")[2]

        self.send_both(visitor, f"{body}:{signature}")

    def test_token_with_a_changed_time_of_issue_is_refused(self, visitor):
        value, _, signature = visitor.token.split(":")

        self.send_both(visitor, f"{value}:zzzzzz:{signature}")

    @pytest.mark.parametrize(
        "text", ["a", "a:b", "a:b:c", ":", "::", "\xe4", "a" * 5000, "null", "undefined"]
    )
    def test_token_that_is_not_signed_is_refused(self, visitor, text):
        self.send_both(visitor, text)

    def test_token_of_another_service_is_refused(self, visitor, settings):
        key = settings.SECRET_KEY
        settings.SECRET_KEY = "the secret of another service, long enough to be one"
        foreign = guard.issue()
        settings.SECRET_KEY = key

        self.send_both(visitor, foreign)

    def test_token_signed_for_another_purpose_is_refused(self, visitor):
        value = secret.timestamp_signer("csrf").unsign(visitor.token)

        self.send_both(visitor, secret.timestamp_signer("device").sign(value))

    def send_both(self, visitor, text):
        assert visitor.post("login", ANN).code == "INVALID_CREDENTIALS"
        visitor.plant(NAME, text)
        visitor.token = text

        assert visitor.post("signup", ANN).error == REFUSED


def test_token_signed_with_a_fallback_key_is_accepted(visitor, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the key that comes after, long enough to be one"

    assert visitor.post("signup", ANN).status == 201


class TestTtl:
    def test_token_is_valid_for_an_hour(self, clock):
        clock.stand_still()  # exactly at the limit
        assert self.sign_up_after(clock, seconds=3600).status == 201

    def test_token_expires_after_an_hour(self, clock):
        assert self.sign_up_after(clock, seconds=3601).error == REFUSED

    def test_token_expires_after_the_ttl_of_the_settings(self, clock, configure):
        configure(CSRF={"TTL": 60})

        assert self.sign_up_after(clock, seconds=61).error == REFUSED

    def sign_up_after(self, clock, **time):
        visitor = Visitor()
        visitor.fetch_token()
        clock.forward(**time)
        # A browser would have deleted the cookie; this test keeps it.
        visitor.client.cookies[NAME]["max-age"] = ""
        return visitor.post("signup", ANN)


class TestForms:
    """Requests that a page can send to any origin without a preflight request."""

    @pytest.mark.parametrize(
        "kind",
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    )
    def test_form_without_the_pair_is_refused(self, kind):
        body = b'{"email": "ann@example.com", "password": "plum tart 42 windows", "x": "="}'

        answer = Api(paired=False).request("POST", "signup", body, content_type=kind)

        assert answer.error == REFUSED

    @pytest.mark.parametrize(
        "kind",
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    )
    def test_form_with_the_pair_is_an_unsupported_media_type(self, kind):
        answer = Api().request("POST", "signup", b'{"a": 1}', content_type=kind)

        assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")

    def test_token_in_the_body_is_ignored(self, visitor):
        token, visitor.token = visitor.token, ""

        assert visitor.post("signup", {**ANN, "csrf_token": token}).error == REFUSED

    def test_token_in_the_query_is_ignored(self, visitor):
        token, visitor.token = visitor.token, ""

        assert visitor.post(f"signup?X-CSRF-Token={token}", ANN).error == REFUSED
