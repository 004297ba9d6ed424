"""The recipes of docs/views.rst for Django Ninja, Django Channels and `LoginRequiredMiddleware`."""

import sys
from types import ModuleType

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.http import JsonResponse
from django.test import AsyncClient, Client
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from authservice.core.models import Session
from tests.csrf.installed import installed
from tests.csrf.visitor import ACCESS, Visitor
from tests.host_views import recipes
from tests.host_views.conftest import bearer
from tests.support.people import make_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
URLS = "tests.host_views.recipe_urls"


@pytest.fixture(autouse=True, scope="module")
def _csrf():
    with installed():
        yield


@pytest.fixture(scope="module")
def ninja():
    """The documented operations; a second set takes POST."""
    names = recipes.run("@api.get")
    names["api"].post("/invoices")(names["invoices"])
    names["api"].post("/export")(names["export"])
    return names["api"]


@pytest.fixture(autouse=True)
def _views(settings, ninja, middleware, configure):
    module = ModuleType(URLS)
    module.urlpatterns = [
        path("auth/", include("authservice.urls")),
        path("api/", ninja.urls),
        path("plain", csrf_exempt(lambda request: JsonResponse({"email": request.user.email}))),
    ]
    sys.modules[URLS] = module
    settings.ROOT_URLCONF = URLS
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
    configure(COOKIES={"ENABLED": True})
    middleware()
    yield
    del sys.modules[URLS]


@pytest.fixture(params=["wsgi", "asgi"])
def get(request):
    """`get(path, **headers)` by one of the two handlers of Django."""
    return Client().get if request.param == "wsgi" else async_to_sync(AsyncClient().get)


@pytest.mark.parametrize("operation", ["/api/invoices", "/api/export"])
class TestNinja:
    def test_token_in_the_header_names_the_user_by_one_statement(self, get, ann, operation):
        get(operation, headers=bearer(ann))
        answers = []

        texts = statements(lambda: answers.append(get(operation, headers=bearer(ann))))

        assert answers[0].json() == {"email": EMAIL}
        assert len(texts) == 1

    def test_ended_session_and_missing_token_are_401(self, get, api, ann, operation):
        api.post("logout", token=ann["access_token"])

        assert get(operation, headers=bearer(ann)).status_code == 401
        assert get(operation).status_code == 401

    def test_cookie_names_the_user_and_a_change_needs_the_pair(self, operation):
        visitor = Visitor()
        visitor.fetch_token()
        visitor.sign_up(EMAIL)
        visitor.fetch_token()

        assert visitor.get(operation).body == visitor.post(operation).body == {"email": EMAIL}
        visitor.token = ""
        assert visitor.post(operation).status == 401

    def test_user_of_a_django_session_is_refused(self, settings, operation):
        session, ours = "django.contrib.sessions.middleware.SessionMiddleware", settings.MIDDLEWARE
        auth = "django.contrib.auth.middleware.AuthenticationMiddleware"
        settings.MIDDLEWARE = [session, auth, *ours]
        client = Client()
        client.force_login(make_user())

        assert client.get("/plain").json() == {"email": EMAIL}
        assert client.post(operation).status_code == 401


@pytest.mark.django_db(transaction=True)  # consumers of Channels close their connection
class TestChannels:
    @pytest.fixture
    def connect(self):
        """`connect(headers, work)` connects, and runs `work` if the connection is accepted."""
        consumer = recipes.run("AsyncJsonWebsocketConsumer")["Prices"].as_asgi()

        @async_to_sync
        async def connect(work=None, scheme="ws", **headers):
            sent = [(name.encode(), value.encode()) for name, value in headers.items()]
            host = (b"host", b"testserver")
            scope = {"type": "websocket", "path": "/prices", "headers": [host, *sent]}
            scope["scheme"] = scheme
            # Channels' own communicator requires daphne.
            socket = ApplicationCommunicator(consumer, scope)
            await socket.send_input({"type": "websocket.connect"})
            accepted = (await socket.receive_output())["type"] == "websocket.accept"
            result = await work(socket) if accepted and work else accepted
            await socket.send_input({"type": "websocket.disconnect", "code": 1000})
            await socket.wait()
            return result

        return connect

    @staticmethod
    async def ask(socket):
        await socket.send_input({"type": "websocket.receive", "text": "{}"})
        return await socket.receive_output()

    def test_token_in_the_header_names_the_user(self, connect, ann):
        authorization = bearer(ann)["Authorization"]

        answer = connect(self.ask, authorization=authorization)

        assert answer["text"] == '{"email": "ann@example.com"}'

    def test_connection_takes_one_statement(self, connect, ann):
        authorization = bearer(ann)["Authorization"]
        connect(authorization=authorization)

        assert len(statements(lambda: connect(authorization=authorization))) == 1

    def test_connection_without_a_valid_token_is_refused(self, connect, api, ann):
        api.post("logout", token=ann["access_token"])

        assert connect(authorization=bearer(ann)["Authorization"]) is False
        assert connect(authorization="Bearer x") is False
        assert connect() is False

    def test_message_after_the_end_of_the_session_closes_the_connection(self, connect, ann):
        async def end_and_ask(socket):
            await Session.objects.aupdate(ended_at="2000-01-01T00:00:00Z")
            return await self.ask(socket)

        answer = connect(end_and_ask, authorization=bearer(ann)["Authorization"])

        assert (answer["type"], answer["code"]) == ("websocket.close", 4401)

    def test_cookie_counts_only_from_an_origin_that_is_trusted(self, connect, ann, configure):
        configure(COOKIES={"ENABLED": True}, CSRF={"TRUSTED_ORIGINS": ["https://app.example.com"]})
        cookie = f"{ACCESS}={ann['access_token']}"

        for origin in ("http://testserver", "https://app.example.com"):
            assert connect(cookie=cookie, origin=origin) is True
        assert connect(cookie=cookie, origin="https://evil.example") is False
        assert connect(cookie=cookie) is False

    @pytest.mark.parametrize(("scheme", "accepted"), [("wss", True), ("ws", False)])
    def test_page_over_tls_has_the_origin_of_a_connection_over_tls_only(
        self, connect, ann, configure, scheme, accepted
    ):
        configure(COOKIES={"ENABLED": True})
        cookie = f"{ACCESS}={ann['access_token']}"

        answer = connect(scheme=scheme, cookie=cookie, origin="https://testserver")

        assert answer is accepted


def test_login_required_middleware_of_the_recipe(settings, api, ann):
    kept, *documented = recipes.run("LoginRequiredMiddleware")["MIDDLEWARE"]
    assert kept is ...
    session = "django.contrib.sessions.middleware.SessionMiddleware"
    settings.MIDDLEWARE = [session, *documented]

    assert Client().get("/plain").status_code == 302
    assert Client().get("/plain", headers=bearer(ann)).json() == {"email": EMAIL}
    api.post("logout", token=ann["access_token"])
    assert Client().get("/plain", headers=bearer(ann)).status_code == 302
