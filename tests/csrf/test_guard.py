"""The guard: every state-changing request under the base path carries a pair of ours."""

import pytest
from django.test import RequestFactory

from authservice.csrf import tokens
from authservice.kernel import crypto
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.views import Endpoint
from tests.client import PASSWORD, Api
from tests.contract.shapes import is_refusal
from tests.csrf.visitor import NAME, Visitor
from tests.people import users
from tests.routes import endpoints, with_a_body

pytestmark = pytest.mark.django_db

ANN = {"email": "ann@example.com", "password": PASSWORD}
REFUSED = (403, "INVALID_CSRF")
# POST /magic-link/verify and Apple's POST /oauth/{provider}/callback may join: each is posted a
# proof of its own by a form.
UNGUARDED = {"account/secure", "verify-email"}
GUARDED = [route for route in with_a_body() if route.path not in UNGUARDED]


@pytest.mark.parametrize("route", GUARDED, ids=str)
def test_every_route_that_changes_something_asks_for_the_pair(route):
    answer = Api(paired=False).request(route.method, route.path, {})

    assert is_refusal(answer, 403, "INVALID_CSRF")


@pytest.mark.parametrize("route", GUARDED, ids=str)
def test_a_bearer_token_is_no_excuse(route):
    token = Api().sign_up()["access_token"]

    answer = Api(paired=False).request(route.method, route.path, {}, token=token)

    assert answer.error == REFUSED


@pytest.mark.parametrize("route", with_a_body(), ids=str)
def test_with_the_pair_every_route_goes_on(visitor, route):
    assert visitor.ask(route.method, route.path).code != "INVALID_CSRF"


def test_exactly_these_routes_are_not_guarded_and_none_of_them_knows_its_caller():
    guard_exempt = [(path, view.cls) for path, view in endpoints() if view.cls.guard_exempt]

    assert {path for path, _ in guard_exempt} == UNGUARDED
    assert [path for path, cls in guard_exempt if not cls.public] == []


def test_an_unguarded_view_is_not_asked():
    class Form(Endpoint):
        public = True
        guard_exempt = True

        def take(self):
            return answer("taken")

    response = Form.as_view({"post": "take"})(
        RequestFactory().post("/form", content_type="application/json")
    )

    assert response.status_code == 200


def test_a_signup_with_the_pair_succeeds(visitor):
    assert visitor.sign_up()["access_token"]


def test_a_refused_signup_makes_nobody():
    Api(paired=False).post("signup", **ANN)

    assert users() == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_what_changes_nothing_is_not_asked(method):
    assert Api(paired=False).request(method, "verify-email").status != 403


def test_where_nothing_is_that_is_told_and_not_the_missing_pair():
    api = Api(paired=False)

    assert api.post("nowhere").error == (404, "NOT_FOUND")
    assert api.request("DELETE", "login").error == (405, "METHOD_NOT_ALLOWED")


def test_the_pair_is_asked_for_before_the_caller_is():
    assert Api(paired=False).post("logout").error == REFUSED
    assert Api().post("logout").error == (401, "UNAUTHORIZED")


class TestPair:
    """Cookie and header are equal, and ours."""

    def test_no_header(self, visitor):
        visitor.token = ""

        assert visitor.post("signup", ANN).error == REFUSED

    def test_no_cookie(self, visitor):
        del visitor.client.cookies[NAME]

        assert visitor.post("signup", ANN).error == REFUSED

    def test_both_empty(self, visitor):
        visitor.plant(NAME, "")
        visitor.token = ""

        assert visitor.post("signup", ANN, X_CSRF_Token="").error == REFUSED

    def test_header_of_another_browser(self, visitor):
        visitor.token = Visitor().fetch_token()

        assert visitor.post("signup", ANN).error == REFUSED

    def test_header_of_an_earlier_fetch(self, visitor):
        earlier = visitor.token
        visitor.fetch_token()
        visitor.token = earlier

        assert visitor.post("signup", ANN).error == REFUSED

    @pytest.mark.parametrize("length", [1, 10, 60, -1, -2, -43, -44])
    def test_truncated_on_both_sides(self, visitor, length):
        self.send_both(visitor, visitor.token[:length])

    def test_halves_swapped(self, visitor):
        body, _, mac = visitor.token.partition(".")

        self.send_both(visitor, f"{mac}.{body}")

    def test_body_of_one_token_with_the_proof_of_another(self, visitor):
        body = visitor.token.partition(".")[0]
        mac = Visitor().fetch_token().partition(".")[2]

        self.send_both(visitor, f"{body}.{mac}")

    @pytest.mark.parametrize("text", ["a", "a.b", ".", "\xe4", "a" * 5000, "null", "undefined"])
    def test_planted_from_a_sub_domain_where_nobody_can_sign(self, visitor, text):
        self.send_both(visitor, text)

    def test_made_by_another_service(self, visitor, settings):
        key = settings.SECRET_KEY
        settings.SECRET_KEY = "the secret of another service, long enough to be one"
        foreign = tokens.issue()
        settings.SECRET_KEY = key

        self.send_both(visitor, foreign)

    def test_signed_by_us_for_another_purpose(self, visitor):
        text = crypto.unsign("csrf", visitor.token)

        self.send_both(visitor, crypto.sign("device", text))

    def send_both(self, visitor, text):
        assert visitor.post("login", ANN).code == "INVALID_CREDENTIALS"
        visitor.plant(NAME, text)
        visitor.token = text

        assert visitor.post("signup", ANN).error == REFUSED


def test_a_token_of_the_key_before_is_good(visitor, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the key that comes after, long enough to be one"

    assert visitor.post("signup", ANN).status == 201


class TestLife:
    def test_just_under_an_hour(self, clock):
        assert self.after(clock, seconds=3599).status == 201

    def test_an_hour(self, clock):
        assert self.after(clock, seconds=3600).error == REFUSED

    def test_as_the_host_says(self, clock, configure):
        configure(CSRF={"TTL": 60})

        assert self.after(clock, seconds=60).error == REFUSED

    def after(self, clock, **time):
        visitor = Visitor()
        visitor.fetch_token()
        clock.forward(**time)
        # The cookie would be gone from a browser; what is tried here keeps it.
        visitor.client.cookies[NAME]["max-age"] = ""
        return visitor.post("signup", ANN)


class TestForms:
    """What a page can post anywhere without asking."""

    @pytest.mark.parametrize(
        "kind",
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    )
    def test_without_the_pair_it_is_forged(self, kind):
        body = b'{"email": "ann@example.com", "password": "plum tart 42 windows", "x": "="}'

        answer = Api(paired=False).request("POST", "signup", body, content_type=kind)

        assert answer.error == REFUSED

    @pytest.mark.parametrize(
        "kind",
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    )
    def test_with_the_pair_it_is_still_no_json(self, kind):
        answer = Api().request("POST", "signup", b'{"a": 1}', content_type=kind)

        assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")

    def test_the_token_in_the_body_is_none(self, visitor):
        token, visitor.token = visitor.token, ""

        assert visitor.post("signup", {**ANN, "csrf_token": token}).error == REFUSED

    def test_the_token_in_the_query_is_none(self, visitor):
        token, visitor.token = visitor.token, ""

        assert visitor.post(f"signup?X-CSRF-Token={token}", ANN).error == REFUSED
