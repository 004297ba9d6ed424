"""The recipes of docs/recipes/login.rst do what the page says."""

import jwt
import pytest
from django.contrib.auth.models import Group
from django.http import HttpResponseRedirect
from django.test import RequestFactory

from authservice.testing import Clock
from tests.session.installed import installed
from tests.support.client import PASSWORD
from tests.support.documented import Page
from tests.support.people import the_user, users

pytestmark = pytest.mark.django_db

PAGE = Page("recipes/login")
ONE_SESSION, BACKEND, CLAIMS, _ = PAGE.settings(INSTALLED_APPS=["authservice.core"], MIDDLEWARE=[])


def test_further_login_ends_the_only_session(api, configure):
    assert "authservice.session" in ONE_SESSION["INSTALLED_APPS"]
    # Before the module, since what is overridden last must be restored first.
    configure(**ONE_SESSION["AUTHSERVICE"])
    with installed():
        first = api.sign_up()["access_token"]
        second = api.log_in()["access_token"]

        assert api.get("me", token=first).error == (401, "INVALID_TOKEN")
        assert api.get("me", token=second).status == 200


class TestChangedPassword:
    @pytest.fixture
    def tokens(self, api):
        return api.sign_up()["access_token"], api.log_in()["access_token"]

    def test_change_keeps_only_the_session_of_the_request(self, api, tokens):
        current, other = tokens
        new = {"old_password": PASSWORD, "new_password": "another plum tart 7"}

        assert api.request("PUT", "change-password", new, token=current).status == 200

        assert api.get("me", token=current).status == 200
        assert api.get("me", token=other).error == (401, "INVALID_TOKEN")

    def test_password_of_the_projects_own_code_ends_all_sessions(self, api, tokens):
        user = the_user()
        user.set_password("another plum tart 7")
        user.save()

        assert [api.get("me", token=token).code for token in tokens] == ["INVALID_TOKEN"] * 2


class TestRecentLogin:
    @pytest.fixture(params=["DeleteShop", "export"])
    def visit(self, request, api):
        """`visit(token)` calls one of the views, and returns its status."""
        view = PAGE.names("shop/views")[request.param]
        call = view.as_view() if isinstance(view, type) else view

        def send(token):
            headers = {"Authorization": f"Bearer {token}"}
            return call(RequestFactory().delete("/shop", headers=headers)).status_code

        return send

    def test_session_that_began_longer_ago_is_refused_also_after_a_refresh(self, api, visit):
        with Clock() as clock:
            tokens = api.sign_up()
            assert visit(tokens["access_token"]) < 300
            clock.advance(minutes=11)

            assert visit(tokens["access_token"]) == 403
            refreshed = api.post("refresh", refresh_token=tokens["refresh_token"]).data
            assert visit(refreshed["access_token"]) == 403
            assert visit(api.log_in()["access_token"]) < 300
        assert visit("x") == 401


class TestOtherSystem:
    @pytest.fixture(autouse=True)
    def _backend(self, settings, gateway):
        settings.COMPANY_LOGIN_URL = gateway.url
        gateway.body = {"email": "ann@example.com"}
        with PAGE.installed("backends"):
            settings.AUTHENTICATION_BACKENDS = BACKEND["AUTHENTICATION_BACKENDS"]
            yield

    def test_user_whom_the_system_knows_gets_an_account_and_logs_in(self, api, gateway):
        assert api.post("login", username="ann", password="theirs").status == 200
        assert api.post("login", email="ann@example.com", password="theirs").status == 200

        assert {headers["Authorization"] for _, _, headers, _ in gateway.requests} == {
            "Basic YW5uOnRoZWlycw=="
        }
        assert not the_user().has_usable_password()

    def test_refusal_of_the_system_is_a_refused_login(self, api, gateway):
        gateway.status = 401

        refused = api.post("login", username="ann", password="wrong")

        assert refused.error == (401, "INVALID_CREDENTIALS")
        assert users() == 0


def test_access_token_has_the_claim_of_the_hook_from_the_next_refresh_on(api, configure):
    configure(**CLAIMS["AUTHSERVICE"])
    with PAGE.installed("claims"):
        tokens = api.sign_up()
        the_user().groups.add(Group.objects.create(name="editors"))
        refreshed = api.post("refresh", refresh_token=tokens["refresh_token"]).data

    def groups(token):
        return jwt.decode(token, options={"verify_signature": False})["groups"]

    assert groups(tokens["access_token"]) == []
    assert groups(refreshed["access_token"]) == ["editors"]


class TestHTMX:
    @pytest.fixture
    def visit(self, settings):
        """A request of HTMX to a view that leads visitors to the sign-in page."""
        settings.LOGIN_URL = "/auth/login"

        def send(location="/auth/login?next=/part", **headers):
            view = PAGE.names("shop/htmx")["sign_in_as_a_whole"]
            redirects = view(lambda request: HttpResponseRedirect(location))
            return redirects(RequestFactory().get("/part", headers=headers))

        return send

    def test_whole_page_goes_to_the_sign_in_page_and_comes_back(self, visit):
        current = "https://shop.example/orders?page=2"

        response = visit(**{"HX-Request": "true", "HX-Current-URL": current})

        assert response.status_code == 200
        assert response["HX-Redirect"] == "/auth/login?next=%2Forders%3Fpage%3D2"

    def test_other_redirects_and_other_requests_stay(self, visit):
        assert visit().url == "/auth/login?next=/part"
        assert visit("/elsewhere", **{"HX-Request": "true"}).url == "/elsewhere"
