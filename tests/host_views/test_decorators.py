"""`login_required` for views of the host project, with and without the middleware."""

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client, RequestFactory
from django.urls import NoReverseMatch, reverse_lazy

from authservice.decorators import login_required
from tests.host_views.conftest import bearer
from tests.host_views.urls import plain
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
PATHS = ["/mine", "/mine-later"]


@pytest.fixture(params=[False, True], ids=["alone", "with the middleware"], autouse=True)
def _middleware(request, middleware):
    if request.param:
        middleware()


def ask(path, **headers):
    """The response under WSGI and the one under ASGI, which are the same."""
    kinds = [Client().get, async_to_sync(AsyncClient().get)]
    answers = [get(path, headers=headers) for get in kinds]
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1
    return answers[0]


@pytest.mark.parametrize("path", PATHS)
def test_signed_in_user_reaches_the_view(ann, path):
    shown = ask(path, **bearer(ann)).json()

    assert shown["email"] == EMAIL
    assert shown["sid"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("value", ["", "Basic YTpi", "Bearer x"])
def test_others_get_the_error_of_the_api(path, value):
    answer = ask(path, **({"Authorization": value} if value else {}))

    assert (answer.status_code, answer.json()["data"]["code"]) == (401, "UNAUTHORIZED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", PATHS)
def test_ended_session_is_refused_at_once(api, ann, path):
    api.post("logout", token=ann["access_token"])
    answer = ask(path, **bearer(ann))

    assert (answer.status_code, answer.json()["data"]["code"]) == (401, "INVALID_TOKEN")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/page?tab=2", "/accounts/login/?next=/page%3Ftab%3D2"),
        ("/page-at", "/enter?next=/page-at"),
    ],
)
def test_redirect_leads_to_the_login_and_back(path, target):
    answer = ask(path)

    assert (answer.status_code, answer.headers["Location"]) == (302, target)


def test_login_url_is_resolved_when_it_is_used(settings):
    settings.LOGIN_URL = reverse_lazy("nowhere")  # at the import of the view there are no URLs yet
    view = login_required(redirect=True)(plain)

    with pytest.raises(NoReverseMatch):
        view(RequestFactory().get("/page"))


@pytest.mark.parametrize("path", ["/page", "/page-at"])
@pytest.mark.parametrize("sent", ["Bearer expired", "Bearer ", "Basic YTpi"])
def test_client_that_sends_a_token_is_not_redirected(path, sent):
    assert ask(path, Authorization=sent).status_code == 401


@pytest.mark.parametrize("path", [*PATHS, "/page"])
def test_responses_vary_by_caller(ann, path):
    """Otherwise the per-site cache would give the page of one user to the next."""
    for headers in ({}, bearer(ann)):
        varies = ask(path, **headers).headers["Vary"]

        assert "Authorization" in varies
        assert "Cookie" in varies


def test_it_costs_one_statement(ann):
    client = Client()
    client.get("/mine", headers=bearer(ann))

    assert len(statements(lambda: client.get("/mine", headers=bearer(ann)))) == 1
