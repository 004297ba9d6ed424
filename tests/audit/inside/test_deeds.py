"""Each operation, done or refused, yields exactly its entries; no route is forgotten."""

from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from django.apps import apps

from authservice.audit import entries
from authservice.audit.models import Entry
from authservice.core.models import Attempt
from authservice.kernel import modules
from authservice.kernel.actions import ACTIONS
from authservice.kernel.events import Event
from authservice.kernel.ids import uuid7_of
from authservice.openapi.routes import routes
from tests import audit
from tests.audit.world import AGENT, DEEDS, metadata, refusals
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

each = pytest.mark.parametrize("deed", DEEDS, ids=str)


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


@each
def test_a_deed_yields_exactly_its_entries(world, deed):
    act = deed.prepare(world)
    world.forget()

    answer = act()
    if deed.delivered:
        world.deliver()

    assert answer.status < 400 or answer.code == deed.code
    assert answer.status >= 400 or not deed.code
    assert world.log() == list(deed.log)
    for entry in world.entries():
        _check(entry, answer)


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
def test_a_request_without_the_right_yields_none(world, route):
    answer = world.api.request(route.method, route.path, token=world.token)

    assert (answer.error, world.log()) == ((403, "FORBIDDEN"), [])


def rows():
    """Everything the service and the host keep, but for counters and the log itself."""
    labels = [config.label for config in modules.installed()]
    models = [m for m in apps.get_models() if m._meta.app_label in (*labels, "auth")]
    return {
        model.__name__: [
            # The count of a try must outlive a request that fails.
            {name: value for name, value in row.items() if name != "attempts"}
            for row in model._base_manager.order_by("pk").values()
        ]
        for model in models
        if model not in (Attempt, Entry)
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "deed", [deed for deed in DEEDS if deed.log and not deed.delivered], ids=str
)
def test_a_deed_whose_entry_cannot_be_written_is_not_done(world, deed, monkeypatch):
    act = deed.prepare(world)
    world.forget()
    world.api.raising = False
    before = rows()
    (taken,) = entries_of_before()
    number = count(1)

    def of(moment):
        # The last entry gets a key that is taken, however often it is tried: the database refuses.
        return taken.pk if next(number) >= len(deed.log) else uuid7_of(moment)

    with monkeypatch.context() as patched:
        patched.setattr(entries, "uuid7_of", of)
        answer = act()

    assert answer.error == (500, "INTERNAL_ERROR")
    assert rows() == before
    assert world.entries() == [taken]
    assert world.post.jobs == []


def entries_of_before():
    """A log with one entry."""
    entries.write(Event(action="auth.signup"))
    return Entry.objects.all()
