"""The host's own views: the middleware, and the authentication class for the REST framework."""

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient

from authservice.csrf.middleware import CsrfMiddleware
from tests.csrf.visitor import ACCESS, NAME, Visitor
from tests.support.client import Api

pytestmark = pytest.mark.django_db

MIDDLEWARE = "authservice.csrf.middleware.CsrfMiddleware"


@pytest.fixture(autouse=True)
def _views(settings):
    settings.ROOT_URLCONF = "tests.csrf.urls"


@pytest.fixture
def _middleware(settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, MIDDLEWARE]


@pytest.mark.usefixtures("_middleware")
class TestMiddleware:
    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PURGE"])
    @pytest.mark.parametrize("path", ["/form", "/notes", "/django-exempt", "/hooks", "/later"])
    def test_request_that_changes_something_needs_the_pair(self, visitor, method, path):
        visitor.token = ""

        assert visitor.ask(method, path).error == (403, "INVALID_CSRF")

    def test_request_with_the_pair_is_accepted(self, visitor):
        assert visitor.post("/form").status == 200

    def test_request_that_changes_nothing_needs_no_pair(self, visitor):
        visitor.token = ""

        assert visitor.get("/form").status == 200

    def test_request_from_another_site_is_refused(self, visitor):
        answer = visitor.post("/form", Origin="https://evil.example")

        assert answer.error == (403, "INVALID_CSRF")

    def test_view_can_be_exempt(self, visitor):
        visitor.token = ""

        assert visitor.post("/exempt").status == 200

    @pytest.mark.parametrize(("path", "itself"), [("/hooks/", 403), ("/hooks", 200)])
    def test_exempt_path_exempts_all_paths_below_it(self, visitor, configure, path, itself):
        configure(CSRF={"EXEMPT_PATHS": [path]})
        visitor.token = ""

        statuses = [visitor.post(path).status for path in ("/hooks/pay", "/hooksand", "/hooks")]

        assert statuses == [200, 403, itself]

    def test_path_of_the_service_cannot_be_exempt(self, visitor, configure):
        configure(CSRF={"EXEMPT_PATHS": ["/auth"]})
        visitor.token = ""

        assert visitor.post("login").error == (403, "INVALID_CSRF")

    def test_unknown_path_or_method_of_the_service_is_reported_as_without_it(self, visitor):
        visitor.token = ""

        assert visitor.post("nowhere").error == (404, "NOT_FOUND")
        assert visitor.post("csrf-token").error == (405, "METHOD_NOT_ALLOWED")

    def test_request_by_cookie_needs_the_pair_of_the_session(self, ann):
        assert ann.post("/form").status == 200
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        assert ann.post("/form").error == (403, "INVALID_CSRF")
        assert ann.post("/form", Authorization="Bearer x").status == 200

    def test_request_with_an_invalid_cookie_accepts_any_valid_pair(self, ann):
        ann.plant(ACCESS, "nonsense")
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        assert ann.post("/form").status == 200

    def test_asynchronous_view_needs_the_pair_too(self):
        answer = async_to_sync(AsyncClient().post)("/later")

        assert answer.status_code == 403

    def test_middleware_does_not_start_without_the_module(self, settings):
        settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

        with pytest.raises(ImproperlyConfigured, match="authservice.csrf"):
            CsrfMiddleware(lambda request: None)


class TestAuthentication:
    """`AuthserviceAuthentication`, without the middleware."""

    def test_cookie_identifies_the_caller(self, ann):
        assert email(ann.get("/notes")) == "ann@example.com"

    def test_change_by_cookie_needs_the_pair_of_the_session(self, ann):
        assert email(ann.post("/notes")) == "ann@example.com"
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        answer = ann.post("/notes")

        assert answer.status == 403
        assert "CSRF" in answer.body["detail"]

    def test_change_by_cookie_from_another_site_is_refused(self, ann):
        assert ann.post("/notes", Origin="https://evil.example").status == 403

    def test_change_by_bearer_token_needs_no_pair(self, ann):
        token_of_ben = Api().sign_up("ben@example.com")["access_token"]
        ann.token = ""

        assert (
            email(ann.post("/notes", Authorization=f"Bearer {token_of_ben}")) == "ben@example.com"
        )

    def test_invalid_cookie_is_an_anonymous_caller(self, ann):
        ann.plant(ACCESS, "nonsense")

        assert (ann.get("/notes").status, email(ann.get("/notes"))) == (200, "")

    def test_invalid_bearer_token_of_ours_is_refused(self, ann):
        token = f"{ann.cookie(ACCESS)}x"

        assert ann.get("/notes", Authorization=f"Bearer {token}").status == 401

    def test_other_bearer_token_is_anonymous_despite_a_valid_cookie(self, ann):
        assert email(ann.get("/notes", Authorization="Bearer nonsense")) == ""


def email(answer):
    return answer.body["email"]
