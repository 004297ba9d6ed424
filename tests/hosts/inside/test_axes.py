"""django-axes, which uses signals and backends of Django, also limits logins of authservice."""

import itertools
from pathlib import Path
from textwrap import dedent

import pytest
from django.apps import apps
from django.test import Client

from authservice.testing import ApiClient, UserFactory
from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not apps.is_installed("axes"), reason="this host has no django-axes"),
]
LIMIT = 3
ANN = {"email": "ann@example.com"}


@pytest.fixture(autouse=True)
def _limited(api, settings):
    settings.AXES_FAILURE_LIMIT = LIMIT
    api.sign_up(username="ann")


def locked_out(api, **identifier):
    for _ in range(LIMIT):
        api.post("login", password="wrong", **identifier)
    return api.post("login", password=PASSWORD, **identifier).status == 401


def test_login_with_axes_succeeds(api):
    assert api.post("login", password=PASSWORD, **ANN).status == 200


def test_axes_locks_out_ip_address_after_failures(api):
    assert locked_out(api, **ANN)


@pytest.mark.parametrize("identifier", [{"username": "ann"}, ANN])
def test_axes_locks_out_user_by_either_identifier(api, settings, identifier):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]

    assert locked_out(api, **identifier)


def test_axes_lockout_by_one_identifier_includes_the_other(api, settings):
    settings.AXES_LOCKOUT_PARAMETERS = ["username"]
    locked_out(api, **ANN)

    assert api.post("login", username="ann", password=PASSWORD).status == 401


def test_client_for_tests_logs_in_beside_axes():
    user = UserFactory()

    assert ApiClient().log_in(user).get("me").data["id"] == str(user.pk)


def recipe():
    """The function that the docs recommend for `AXES_LOCKOUT_CALLABLE`."""
    page = Path(__file__).parents[3] / "docs" / "other_packages.rst"
    blocks = page.read_text().split(".. code-block:: python\n")
    (block,) = [block for block in blocks if "def locked_out" in block]
    lines = itertools.takewhile(lambda line: not line or line.startswith("   "), block.split("\n"))
    names = {}
    exec(dedent("\n".join(lines)), names)  # noqa: S102 our own docs
    return names["locked_out"]


def test_refusal_of_the_axes_middleware_is_in_the_envelope_with_the_recipe(settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "axes.middleware.AxesMiddleware"]
    settings.AXES_LOCKOUT_CALLABLE = locked_out_ = recipe()
    visitor = Client()
    for password in ("wrong",) * (LIMIT + 1):
        body = {**ANN, "password": password}
        answer = visitor.post("/auth/login", body, content_type="application/json")

    assert answer.status_code == 429
    assert answer.json()["data"]["code"] == "TOO_MANY_ATTEMPTS"
    assert answer.json()["message"]
    assert int(answer.headers["Retry-After"]) > 0
    page = visitor.get("/").wsgi_request
    assert locked_out_(page).content == b"Too many attempts. Try again later."
