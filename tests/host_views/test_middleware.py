"""`AuthserviceMiddleware`: who `request.user` is in a view that knows nothing of tokens."""

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.test import AsyncClient, Client

from authservice.core.api import identity
from tests.csrf.visitor import ACCESS
from tests.host_views.conftest import bearer
from tests.support.people import the_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
DJANGO = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
LOGIN_REQUIRED = "django.contrib.auth.middleware.LoginRequiredMiddleware"


def email(response):
    assert response.status_code == 200, response.content
    return response.json()["email"]


@pytest.fixture(autouse=True)
def _ours(settings, middleware):
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *DJANGO]
    middleware()


def test_access_token_names_the_user(ann):
    shown = Client().get("/plain", headers=bearer(ann)).json()

    assert shown["email"] == EMAIL
    assert shown["sid"]


def test_request_without_a_token_is_anonymous():
    assert Client().get("/plain").json() == {"email": "", "sid": ""}


@pytest.mark.parametrize("value", ["Bearer x", "Bearer ", "Basic YTpi", "Bearer a.b.c"])
def test_request_with_other_credentials_is_anonymous(value):
    assert email(Client().get("/plain", headers={"Authorization": value})) == ""


def test_request_with_the_token_of_an_ended_session_is_anonymous(api, ann):
    api.post("logout", token=ann["access_token"])

    assert email(Client().get("/plain", headers=bearer(ann))) == ""


def test_async_view_awaits_the_user(ann):
    get = async_to_sync(AsyncClient().get)

    assert email(get("/later", headers=bearer(ann))) == EMAIL
    assert email(get("/later")) == ""


def test_user_costs_one_statement_and_none_if_nobody_asks(ann):
    client = Client()
    client.get("/plain", headers=bearer(ann))

    assert len(statements(lambda: client.get("/plain", headers=bearer(ann)))) == 1
    assert statements(lambda: client.get("/auth/nowhere", headers=bearer(ann))) == []


def test_response_varies_by_caller_if_the_user_was_read(ann):
    def varies_by(path):
        value = Client().get(path, headers=bearer(ann)).headers.get("Vary", "")
        return {name for name in ("Authorization", "Cookie") if name in value}

    assert varies_by("/plain") == {"Authorization", "Cookie"}
    assert varies_by("/nowhere") == set()


def test_async_response_varies_by_caller_if_the_user_was_read(ann):
    answer = async_to_sync(AsyncClient().get)("/later", headers=bearer(ann))

    assert "Authorization" in answer.headers["Vary"]


class TestDjangoSession:
    """A user of Django's own session, such as staff in Django admin."""

    @pytest.fixture
    def staff(self):
        client = Client()
        client.force_login(get_user_model().objects.create_user("eve", "eve@example.com"))
        return client

    def test_user_of_the_session_is_kept(self, staff):
        assert staff.get("/plain").json() == {"email": "eve@example.com", "sid": ""}

    def test_access_token_in_the_header_comes_first(self, staff, ann):
        assert email(staff.get("/plain", headers=bearer(ann))) == EMAIL

    def test_request_with_an_invalid_token_of_ours_is_anonymous(self, staff, api, ann):
        api.post("logout", token=ann["access_token"])

        assert email(staff.get("/plain", headers=bearer(ann))) == ""

    def test_foreign_credentials_leave_the_session(self, staff):
        shown = staff.get("/plain", headers={"Authorization": "Basic YTpi"})

        assert email(shown) == "eve@example.com"

    def test_session_comes_before_a_cookie(self, staff, ann, configure):
        configure(COOKIES={"ENABLED": True})
        staff.cookies[ACCESS] = ann["access_token"]

        assert email(staff.get("/plain")) == "eve@example.com"


def reading(get_response):
    """A middleware that reads the user before Django has found the view."""

    def handle(request):
        str(request.user)
        return get_response(request)

    return handle


class TestDjangoAdmin:
    """It has a login of its own, which always asks for the second factor."""

    @pytest.fixture(params=[False, True], ids=["by the view", "by a middleware"], autouse=True)
    def _reading(self, request, settings):
        if request.param:
            settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.reading"]

    def test_access_token_does_not_count(self, ann):
        assert email(Client().get("/admin/", headers=bearer(ann))) == ""
        assert email(Client().get("/plain", headers=bearer(ann))) == EMAIL

    def test_session_counts(self, ann):
        client = Client()
        client.force_login(get_user_model().objects.create_user("eve", "eve@example.com"))

        assert email(client.get("/admin/")) == "eve@example.com"
        assert email(client.get("/admin/", headers=bearer(ann))) == "eve@example.com"


class TestLoginRequiredMiddleware:
    @pytest.fixture(autouse=True)
    def _required(self, settings):
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, LOGIN_REQUIRED]

    @pytest.mark.parametrize("path", ["/plain", "/later"])
    def test_it_sees_the_user_of_the_token(self, ann, path):
        assert email(Client().get(path, headers=bearer(ann))) == EMAIL

    def test_anonymous_request_is_redirected(self):
        assert Client().get("/plain").status_code == 302
        assert Client().get("/open").status_code == 200


def test_user_is_that_of_the_host_project(ann, rf):
    assert identity.of(rf.get("/", headers=bearer(ann))).user == the_user()
