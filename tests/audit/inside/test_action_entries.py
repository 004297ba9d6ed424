"""Each operation, done or refused, yields exactly its entries; no route is forgotten."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from authservice.kernel.actions import ACTIONS
from authservice.openapi.routes import routes
from tests import audit
from tests.audit.world import AGENT, DEEDS, metadata, refusals
from tests.client import PASSWORD
from tests.recovery.flows import NEW
from tests.recovery.statements import statements
from tests.routes import routes as mounted

for table in sorted(Path(audit.__file__).parent.glob("deeds_*.py")):
    import_module(f"tests.audit.{table.stem}")

pytestmark = pytest.mark.django_db

ROUTES = {f"{route.method.upper()} {route.path}": route for route in routes()}
# Whoever asks is a super admin, so that another always remains; a test of the rule itself, and one
# of a host whose table protects the user, stand with the admin API.
ELSEWHERE = {
    ("DELETE /admin/users/{user_id}", "LAST_SUPER_ADMIN"),
    ("DELETE /admin/users/{user_id}", "USER_IN_USE"),
    ("POST /admin/users/{user_id}/suspend", "LAST_SUPER_ADMIN"),
}
# What is told of the request of somebody else, so its address is not that of the one who asked.
TOLD_LATER = ("auth.password.reset_requested", "auth.magiclink.sent")


def each_route(wanted):
    return pytest.mark.parametrize("route", [*filter(wanted, mounted())], ids=str)


def test_every_route_has_its_deeds():
    assert set(ROUTES) == {deed.route for deed in DEEDS}


def test_every_route_is_tried_with_success():
    assert set(ROUTES) == {deed.route for deed in DEEDS if not deed.code}


def test_every_refusal_of_a_route_is_tried():
    tried = {(deed.route, deed.code) for deed in DEEDS if deed.code}

    known = {(name, code) for name, route in ROUTES.items() for code in refusals(route.operation)}
    assert known - tried - ELSEWHERE == set()


@pytest.mark.parametrize("deed", DEEDS, ids=str)
def test_a_deed_yields_exactly_its_entries(world, deed):
    """Each with what it must say, without a secret, and for one statement: asked of one run, since
    what a deed takes to prepare is most of the time."""
    act = deed.prepare(world)
    world.forget()
    answers = []

    def whole():
        answers.append(act())
        if deed.delivered:
            world.deliver()

    asked = [sql for sql in statements(whole) if "authservice_audit_entry" in sql]

    [answer] = answers
    assert answer.status < 400 or answer.code == deed.code
    assert answer.status >= 400 or not deed.code
    assert world.log() == list(deed.log)
    for entry in world.entries():
        _check(entry, answer)
    _check_no_secret(world, answer)
    if "audit" not in deed.route:
        assert [sql.partition(" ")[0] for sql in asked] == ["INSERT"] * len(deed.log)


def _check_no_secret(world, answer):
    tokens = {world.ann["access_token"], world.ann["refresh_token"]}
    tokens |= set(re.findall(r"[A-Za-z0-9_.-]{40,}", answer.response.content.decode()))
    hashes = get_user_model().objects.values_list("password", flat=True)
    secrets = {PASSWORD, NEW, "wrong", *tokens, *hashes}
    for entry in world.entries():
        kept = f"{entry.metadata} {entry.details} {entry.user_agent}"
        assert [secret for secret in secrets if secret in kept] == []


def _check(entry, answer):
    action = ACTIONS[entry.action]
    assert entry.severity == action.severity
    assert entry.actor_type in action.actors
    assert entry.target_type == ("user" if entry.target_id else "")
    assert entry.details.startswith(action.text.rstrip("."))
    assert metadata(entry)["request_id"] == answer.headers["X-Request-ID"]
    if entry.action not in TOLD_LATER:
        assert (entry.ip_address, entry.user_agent) == ("127.0.0.1", AGENT)


@each_route(lambda route: not route.public)
def test_a_request_that_says_not_who_asks_yields_none(world, route):
    assert world.api.request(route.method, route.path).status == 401
    assert world.log() == []


@each_route(lambda route: route.method != "GET")
def test_a_broken_body_yields_none(world, route):
    token = "" if route.public else world.root.token
    world.forget()

    assert world.api.request(route.method, route.path, "{", token=token).status in (200, 400)
    assert route.path in ("logout", "admin/audit/cleanup") or world.log() == []


@each_route(lambda route: route.super_admin)
def test_a_request_without_the_right_yields_one(world, route):
    answer = world.api.request(route.method, route.path, token=world.token)

    assert (answer.error, world.log()) == ((403, "FORBIDDEN"), ["security.forbidden ann"])
