"""A new project from `startproject` works with the lines of the README only."""

import pytest

from tests.wheel.conftest import database
from tests.wheel.projects import MODELS, Project, call, post, readme

# All tests share the started servers, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]
ANN = {"email": "ann@example.com", "password": "plum tart 42 windows"}


@pytest.fixture(scope="module", params=MODELS)
def url(request, programs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "project"
    with database(f"fresh_{request.param}") as databases:
        project = Project(programs, folder, request.param, databases)
        project.install()
        project.manage("check", "--fail-level", "ERROR")
        project.manage("migrate")
        with project.served() as address:
            yield address


def test_readme_instructions_are_at_most_eight_lines():
    settings, urls, _ = readme()

    assert len((settings + urls).splitlines()) <= 8


def test_new_project_serves_signup_login_refresh_and_logout(url):
    status, signed_up = post(url + "signup", **ANN)
    assert (status, signed_up["user"]["email"]) == (201, ANN["email"])
    assert call("GET", url + "me", token=signed_up["access_token"])[1]["email"] == ANN["email"]

    status, logged_in = post(url + "login", **ANN)
    assert status == 200
    status, renewed = post(url + "refresh", refresh_token=logged_in["refresh_token"])
    assert status == 200
    assert post(url + "refresh", refresh_token=logged_in["refresh_token"])[0] == 401

    orders = url.removesuffix("auth/") + "orders"
    assert call("GET", orders)[0] == 401
    assert call("GET", orders, token=renewed["access_token"]) == (200, {"orders_of": ANN["email"]})

    token = renewed["access_token"]
    assert call("POST", url + "logout", token=token)[0] == 200
    assert call("GET", url + "me", token=token) == (
        401,
        {"code": "INVALID_TOKEN", "message": "The token is not valid."},
    )
    assert call("GET", url + "me", token=signed_up["access_token"])[0] == 200
