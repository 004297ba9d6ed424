"""Each operation, done or refused, writes exactly its entries; every route has a case."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from authservice.kernel.actions import ACTIONS
from authservice.openapi.routes import routes
from tests import audit
from tests.audit.world import AGENT, CASES, WRONG, metadata, refusals
from tests.oauth.in_process import office
from tests.support.client import PASSWORD
from tests.support.flows import NEW
from tests.support.routes import routes as mounted
from tests.support.statements import statements

for table in sorted(Path(audit.__file__).parent.glob("cases_*.py")):
    import_module(f"tests.audit.{table.stem}")

pytestmark = pytest.mark.django_db

ROUTES = {f"{route.method.upper()} {route.path}": route for route in routes()}
# The caller is a super admin, so another super admin always remains; the tests of the admin API
# cover that rule and a host whose table protects the user. A host may protect an organization too.
ELSEWHERE = {
    ("DELETE /me", "USER_IN_USE"),
    ("POST /me/delete", "USER_IN_USE"),
    ("POST /account/delete", "USER_IN_USE"),
    ("DELETE /admin/users/{user_id}", "LAST_SUPER_ADMIN"),
    ("DELETE /admin/users/{user_id}", "USER_IN_USE"),
    ("DELETE /org/{org_id}", "ORG_IN_USE"),
    ("POST /admin/users/{user_id}/suspend", "LAST_SUPER_ADMIN"),
}
# Recorded by the worker, so the entry does not have the address of the client.
RECORDED_BY_WORKER = ("auth.password.reset_requested", "auth.magiclink.sent")


def each_route(wanted):
    return pytest.mark.parametrize("route", [*filter(wanted, mounted())], ids=str)


def test_every_route_has_a_case():
    assert set(ROUTES) == {case.route for case in CASES}


def test_every_route_has_a_successful_case():
    assert set(ROUTES) == {case.route for case in CASES if not case.code}


def test_every_refusal_of_a_route_has_a_case():
    tried = {(case.route, case.code) for case in CASES if case.code}

    known = {(name, code) for name, route in ROUTES.items() for code in refusals(route.operation)}
    # A refusal of the project's own table, which `tests/user_models` has and this project has not.
    known = {(name, code) for name, code in known if code != "CONFLICT"}
    assert known - tried - ELSEWHERE == set()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_action_writes_exactly_its_entries(world, case):
    """Each entry has its required values, contains no secret and costs at most one statement. One
    run checks all three, since most of the time is spent on the preparation."""
    act = case.prepare(world)
    world.forget()
    answers = []

    def whole():
        answers.append(act())
        if case.delivered:
            world.deliver()

    asked = [sql for sql in statements(whole) if "authservice_audit_entry" in sql]

    [answer] = answers
    refused = answer.status >= 400 and not _is_prefetch(answer)
    assert case.code == (answer.code if refused else "")
    assert world.log() == list(case.log)
    for entry in world.entries():
        _check(entry, answer)
    _check_no_secret(world, answer)
    if not re.search("audit|export", case.route):
        # PostgreSQL writes those of a login together with its session.
        assert {sql.partition(" ")[0] for sql in asked} <= {"INSERT", "WITH"}
        assert bool(case.log) <= len(asked) <= len(case.log)


def _is_prefetch(answer):
    """Whether it is the refusal of a prefetch, the only error that has no body."""
    headers = answer.headers
    return answer.status == 503 and not answer.response.content and headers["Retry-After"] == "1"


def _check_no_secret(world, answer):
    tokens = {world.ann["access_token"], world.ann["refresh_token"]}
    tokens |= set(re.findall(r"[A-Za-z0-9_.-]{40,}", answer.response.content.decode()))
    hashes = get_user_model().objects.values_list("password", flat=True)
    secrets = {PASSWORD, NEW, WRONG, *tokens, *hashes, *office.issued}
    for entry in world.entries():
        stored = f"{entry.metadata} {entry.details} {entry.user_agent}"
        assert [secret for secret in secrets if secret in stored] == []


def _check(entry, answer):
    action = ACTIONS[entry.action]
    assert entry.severity == action.severity
    assert entry.actor_type in action.actors
    organizations = entry.action.startswith("org.") and not entry.action.startswith("org.member.")
    kind = "organization" if organizations else "user"
    assert entry.target_type == (kind if entry.target_id else "")
    assert entry.details.startswith(action.text.rstrip("."))
    assert metadata(entry)["request_id"] == answer.headers["X-Request-ID"]
    if entry.action not in RECORDED_BY_WORKER:
        assert (entry.ip_address, entry.user_agent) == ("127.0.0.1", AGENT)


@each_route(lambda route: not route.public)
def test_unauthenticated_request_writes_no_entry(world, route):
    assert world.api.request(route.method, route.path).status == 401
    assert world.log() == []


@each_route(lambda route: route.method != "GET")
def test_invalid_body_writes_no_entry(world, route):
    token = "" if route.public else world.root.token
    world.forget()

    assert world.api.request(route.method, route.path, "{", token=token).status in (200, 400)
    assert route.path in ("logout", "admin/audit/cleanup") or world.log() == []


@each_route(lambda route: route.super_admin)
def test_forbidden_request_writes_one_entry(world, route):
    answer = world.api.request(route.method, route.path, token=world.token)

    assert (answer.error, world.log()) == ((403, "FORBIDDEN"), ["security.forbidden ann"])
