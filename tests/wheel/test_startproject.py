"""A project fresh from `startproject` works with the lines of the README, and none beside them."""

import pytest

from tests.wheel.conftest import database
from tests.wheel.projects import MODELS, Project, call, post, readme

# What they start serves all of them, so one worker runs them.
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


def test_the_readme_needs_but_a_few_lines():
    settings, urls = readme()

    assert len((settings + urls).splitlines()) <= 6


def test_a_newcomer_walks_from_sign_up_to_log_out(url):
    status, joined = post(url + "signup", **ANN)
    assert (status, joined["user"]["email"]) == (201, ANN["email"])
    assert call("GET", url + "me", token=joined["access_token"])[1]["email"] == ANN["email"]

    status, entered = post(url + "login", **ANN)
    assert status == 200
    status, renewed = post(url + "refresh", refresh_token=entered["refresh_token"])
    assert status == 200
    assert post(url + "refresh", refresh_token=entered["refresh_token"])[0] == 401

    token = renewed["access_token"]
    assert call("POST", url + "logout", token=token)[0] == 200
    assert call("GET", url + "me", token=token) == (
        401,
        {"code": "INVALID_TOKEN", "message": "The token is not valid."},
    )
    assert call("GET", url + "me", token=joined["access_token"])[0] == 200
