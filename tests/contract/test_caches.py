"""No cache changes an answer: every response forbids it, and Django's per-site cache obeys."""

import pytest
from django.core.cache import cache
from django.test import Client

from tests.magiclink.magic import Magic
from tests.settings import HOST
from tests.support.client import BASE, PASSWORD, Answer, Api
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.support.routes import routes

pytestmark = pytest.mark.django_db
SITE_CACHE = ("UpdateCacheMiddleware", "FetchFromCacheMiddleware")
PUBLIC = {".well-known/jwks.json", "docs/assets/<str:name>", "docs/<str:name>"}
PATHS = sorted(
    {(route.method, route.path) for route in routes()} | {("OPTIONS", "me"), ("GET", "x")}
)


@pytest.fixture(scope="module", autouse=True)
def _modules():
    with mounted(
        "authservice.magiclink", "authservice.csrf", "tests.support.messenger.apps.PostOffice"
    ):
        yield


@pytest.fixture(autouse=True)
def site_cache(settings):
    first, last = (f"django.middleware.cache.{name}" for name in SITE_CACHE)
    settings.MIDDLEWARE = [first, *settings.MIDDLEWARE, last]
    cache.clear()
    office.jobs.clear()
    yield
    cache.clear()


def assert_forbids_caches(response):
    assert response.headers["Cache-Control"] == "no-store, private"
    names = {name.strip() for name in response.headers["Vary"].split(",")}
    assert {"Authorization", "Cookie"} <= names


def stored():
    """What the per-site cache has stored."""
    return [key for key in cache._cache if "views.decorators.cache" in key]


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_response_forbids_caches(api, method, path, accept):
    token = api.sign_up()["access_token"]
    for headers in ({}, {"Authorization": f"Bearer {token}"}, {"Sec-Purpose": "prefetch"}):
        answer = api.request(method, path, headers={"Accept": accept, **headers})

        if path in PUBLIC and answer.status == 200:
            assert answer.headers["Cache-Control"].startswith("public, max-age=")
        else:
            assert_forbids_caches(answer.response)


@pytest.mark.parametrize(
    "path", sorted({path for method, path in PATHS if method == "GET"} - PUBLIC)
)
def test_site_cache_stores_no_answer(api, path):
    for email in ("ann@example.com", "bob@example.com"):
        api.get(path, token=api.sign_up(email)["access_token"])
    api.get(path)

    assert stored() == []


def test_site_cache_gives_each_user_their_own_profile_until_the_logout(api):
    ann, bob = (api.sign_up(f"{name}@example.com")["access_token"] for name in ("ann", "bob"))

    assert api.get("me", token=ann).data["email"] == "ann@example.com"
    assert api.get("me", token=bob).data["email"] == "bob@example.com"
    assert api.get("me").error == (401, "UNAUTHORIZED")
    api.post("logout", token=ann)
    assert api.get("me", token=ann).error == (401, "INVALID_TOKEN")


@pytest.mark.parametrize("front", ["", "https://app.example.com/signed-in"])
def test_site_cache_does_not_repeat_a_magic_link(configure, front):
    api = CommittingApi()
    api.sign_up()
    configure(MAGICLINK={"CALLBACK_URL": front})
    magic = Magic(api, office)
    token = magic.mailed().token

    first, second = magic.follow(token), magic.follow(token)

    assert "access_token" in first.response.content.decode() + first.headers.get("Location", "")
    assert "access_token" not in second.response.content.decode()
    assert "access_token" not in second.headers.get("Location", "")


def test_site_cache_gives_each_browser_its_own_csrf_token():
    tokens = {Answer(Client().get(f"{BASE}csrf-token")).data["csrf_token"] for _ in range(3)}

    assert len(tokens) == 3


@pytest.mark.skipif(HOST == "hostile", reason="its policies and middleware stop views of its own")
class TestHostViews:
    @pytest.fixture(autouse=True)
    def _views(self, settings):
        settings.ROOT_URLCONF = "tests.host_views.urls"

    @pytest.mark.parametrize(
        "path", ["/mine", "/mine-later", "/page", "/notes", "/verified", "/recent"]
    )
    def test_site_cache_keeps_users_apart(self, api, path):
        ann, bob = (api.sign_up(f"{name}@example.com")["access_token"] for name in ("ann", "bob"))

        answers = [
            Client().get(path, headers={"Authorization": f"Bearer {token}"}) for token in (ann, bob)
        ]
        nobody = Client().get(path)

        assert "bob" not in answers[0].content.decode()
        assert "ann" not in answers[1].content.decode()
        assert nobody.status_code in (302, 401, 403)
        for response in (*answers, nobody):
            names = {name.strip() for name in response.headers["Vary"].split(",")}
            assert {"Authorization", "Cookie"} <= names

    def test_site_cache_keeps_users_apart_with_the_middleware(self, api, settings):
        [*before, last] = settings.MIDDLEWARE
        settings.MIDDLEWARE = [*before, "authservice.middleware.AuthserviceMiddleware", last]
        token = api.sign_up("ann@example.com")["access_token"]

        first = Client().get("/plain", headers={"Authorization": f"Bearer {token}"})

        assert first.json()["email"] == "ann@example.com"
        assert Client().get("/plain").json()["email"] == ""

    def test_refusal_of_a_decorator_is_not_stored(self):
        assert_forbids_caches(Client().get("/mine"))


def test_login_by_password_is_not_stored():
    api = Api()
    api.sign_up()

    assert_forbids_caches(api.post("login", email="ann@example.com", password=PASSWORD).response)
