"""Every admin route in the URLconf refuses all other users, and former super admins at once."""

import subprocess
import sys

import pytest

from tests.admin_api.people import BOB, Admin
from tests.contract.shapes import is_refusal
from tests.hosts.runs import ROOT as PROJECT
from tests.support.needs import stateless_login
from tests.support.people import deactivate
from tests.support.routes import routes

pytestmark = pytest.mark.django_db

ROUTES = [route for route in routes() if route.path.startswith("admin/")]
each_route = pytest.mark.parametrize("route", ROUTES, ids=str)


@pytest.fixture
def bob(api, root):
    """A second super admin, whose token stays the same when the tests revoke the rights."""
    return Admin(api, BOB)


def test_admin_routes_of_users_are_complete():
    users = {str(route) for route in ROUTES if route.path.startswith("admin/users")}

    assert users == {
        "GET admin/users",
        "POST admin/users",
        "GET admin/users/1",
        "PUT admin/users/1",
        "DELETE admin/users/1",
        "POST admin/users/1/suspend",
        "POST admin/users/1/reactivate",
        "POST admin/users/1/logout",
        "POST admin/users/1/reset-password",
    }


@each_route
def test_request_without_a_token_is_unauthorized(api, route):
    answer = api.request(route.method, route.path)

    assert is_refusal(answer, 401, "UNAUTHORIZED")


@each_route
def test_user_who_is_not_a_super_admin_is_forbidden(api, ann, route):
    answer = api.request(route.method, route.path, token=ann["access_token"])

    assert is_refusal(answer, 403, "FORBIDDEN")


@each_route
def test_user_who_is_not_a_super_admin_is_forbidden_before_the_body_is_read(api, ann, route):
    answer = api.request(route.method, route.path, "{", token=ann["access_token"])

    assert is_refusal(answer, 403, "FORBIDDEN")


@each_route
def test_demoted_super_admin_is_forbidden(root, bob, route):
    root.put(bob.id, is_super_admin=False)

    assert is_refusal(bob.ask(route.method, route.path), 403, "FORBIDDEN")


@each_route
def test_suspended_super_admin_is_unauthorized(bob, route):
    deactivate(BOB)

    assert is_refusal(bob.ask(route.method, route.path), 401, "INVALID_TOKEN")


@stateless_login
@each_route
def test_token_of_a_suspended_super_admin_is_refused_despite_signature_checks_only(
    root, bob, configure, route
):
    configure(STATELESS={"CHECK": "signature"})
    root.do("suspend", bob.id)

    assert is_refusal(bob.ask(route.method, route.path), 401, "INVALID_TOKEN")


def test_refused_request_changes_nothing(root, api, ann, ann_id):
    api.request("PUT", f"admin/users/{ann_id}", {"is_super_admin": True}, token=ann["access_token"])
    api.request("DELETE", f"admin/users/{root.id}", token=ann["access_token"])

    assert root.show(ann_id).data["is_super_admin"] is False
    assert root.show(root.id).status == 200


def test_module_not_installed_has_no_routes_and_is_not_imported():
    code = (
        "import django; django.setup();"
        "from tests.support.routes import routes;"
        "print([str(r) for r in routes() if r.path.startswith('admin/users')]);"
        "import sys; print('authservice.admin.views' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={"DJANGO_SETTINGS_MODULE": "tests.admin_api.without", "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.stdout.split("\n")[:2] == ["[]", "False"], run.stderr
