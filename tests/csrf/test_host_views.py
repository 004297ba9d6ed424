"""The host's own views: the middleware, and the REST framework's authentication of ours."""

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient

from authservice.csrf.middleware import CsrfMiddleware
from tests.client import Api
from tests.csrf.visitor import ACCESS, NAME, Visitor

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
    def test_what_changes_something_asks_for_the_pair(self, visitor, method, path):
        visitor.token = ""

        assert visitor.ask(method, path).error == (403, "INVALID_CSRF")

    def test_with_the_pair_it_goes_on(self, visitor):
        assert visitor.post("/form").status == 200

    def test_what_changes_nothing_is_not_asked(self, visitor):
        visitor.token = ""

        assert visitor.get("/form").status == 200

    def test_from_another_site_it_is_refused(self, visitor):
        answer = visitor.post("/form", Origin="https://evil.example")

        assert answer.error == (403, "INVALID_CSRF")

    def test_a_view_can_be_exempt(self, visitor):
        visitor.token = ""

        assert visitor.post("/exempt").status == 200

    @pytest.mark.parametrize(("path", "itself"), [("/hooks/", 403), ("/hooks", 200)])
    def test_paths_can_be_exempt_with_all_below_them(self, visitor, configure, path, itself):
        configure(CSRF={"EXEMPT_PATHS": [path]})
        visitor.token = ""

        statuses = [visitor.post(path).status for path in ("/hooks/pay", "/hooksand", "/hooks")]

        assert statuses == [200, 403, itself]

    def test_no_path_of_the_service_is_exempt(self, visitor, configure):
        configure(CSRF={"EXEMPT_PATHS": ["/auth"]})
        visitor.token = ""

        assert visitor.post("login").error == (403, "INVALID_CSRF")

    def test_the_service_answers_as_without_it(self, visitor):
        visitor.token = ""

        assert visitor.post("nowhere").error == (404, "NOT_FOUND")
        assert visitor.post("csrf-token").error == (405, "METHOD_NOT_ALLOWED")

    def test_by_cookie_the_pair_is_that_of_the_sign_in(self, ann):
        assert ann.post("/form").status == 200
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        assert ann.post("/form").error == (403, "INVALID_CSRF")
        assert ann.post("/form", Authorization="Bearer x").status == 200

    def test_a_dead_cookie_binds_to_nothing(self, ann):
        ann.plant(ACCESS, "nonsense")
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        assert ann.post("/form").status == 200

    def test_an_asynchronous_host_is_asked_too(self):
        answer = async_to_sync(AsyncClient().post)("/later")

        assert answer.status_code == 403

    def test_it_does_not_start_without_the_module(self, settings):
        settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "csrf" not in name]

        with pytest.raises(ImproperlyConfigured, match="authservice.csrf"):
            CsrfMiddleware(lambda request: None)


class TestAuthentication:
    """`AuthserviceAuthentication`, without the middleware."""

    def test_a_cookie_identifies_the_caller(self, ann):
        assert email(ann.get("/notes")) == "ann@example.com"

    def test_a_change_by_cookie_needs_the_pair_of_the_sign_in(self, ann):
        assert email(ann.post("/notes")) == "ann@example.com"
        ann.token = Visitor().fetch_token()
        ann.plant(NAME, ann.token)

        answer = ann.post("/notes")

        assert answer.status == 403
        assert "CSRF" in answer.body["detail"]

    def test_a_change_by_cookie_from_another_site_is_refused(self, ann):
        assert ann.post("/notes", Origin="https://evil.example").status == 403

    def test_a_change_by_bearer_token_needs_none(self, ann):
        bens = Api().sign_up("ben@example.com")["access_token"]
        ann.token = ""

        assert email(ann.post("/notes", Authorization=f"Bearer {bens}")) == "ben@example.com"

    def test_a_dead_cookie_is_nobody(self, ann):
        ann.plant(ACCESS, "nonsense")

        assert (ann.get("/notes").status, email(ann.get("/notes"))) == (200, "")

    def test_a_dead_bearer_token_is_refused(self, ann):
        assert ann.get("/notes", Authorization="Bearer nonsense").status == 401


def email(answer):
    return answer.body["email"]
