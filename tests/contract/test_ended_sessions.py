"""A request whose session ends after it was authenticated changes nothing.

Every state-changing route of the URLconf is tested: a new one must be listed in `REQUESTS` with a
body that it would accept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core import mail
from django.db.models import F
from django.utils import timezone

from authservice.core.api.endpoint import Endpoint
from authservice.core.models import Account, AttemptCounter, Session
from authservice.kernel import databases
from authservice.testing import make_organization
from tests.admin_api.people import promote
from tests.support.client import PASSWORD, Api
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.support.needs import stateless_login
from tests.support.routes import protected, with_a_body

if TYPE_CHECKING:
    from tests.twofactor.people import Person

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not apps.is_installed("authservice.twofactor"),
        reason="some of the routes are those of the second factor",
    ),
]
ANN = "ann@example.com"

REFUSED = (401, "INVALID_TOKEN")
MESSENGER = "tests.support.messenger.apps.PostOffice"
NEW = "quince jelly 17 shutters"


@dataclass
class World:
    """Ann, a super admin with two sessions, and Bob, a user without rights."""

    api: Api
    clock: Any
    ann: Person
    bob: str
    configure: Any
    other: Session = field(init=False)

    def __post_init__(self) -> None:
        promote(ANN)
        first = Session.objects.get(user=self.ann.user_id)
        self.api.log_in(ANN)
        self.other = Session.objects.exclude(pk=first.pk).get(user=self.ann.user_id)

    def enrolled(self) -> Person:
        self.ann.enrol()
        self.clock.forward(seconds=30)
        return self.ann

    def pending(self) -> Person:
        self.ann.set_up()
        return self.ann

    def invited(self) -> str:
        """The id of an invitation that Ann sent."""
        sent = self.api.post("invitations", token=self.ann.token, email="dan@example.com")
        AttemptCounter.objects.all().delete()  # as on the next day
        return str(sent.data["id"])


Request = Callable[[World], tuple[str, Any]]


def to(path: str, **body: Any) -> Request:
    return lambda world: (path.format(bob=world.bob, other=world.other.pk), body)


def with_code(path: str, person: Callable[[World], Person]) -> Request:
    return lambda world: (path, {"code": person(world).code()})


def to_invitation(path: str) -> Request:
    return lambda world: (path.format(world.invited()), {})


def acme(world: World) -> str:
    """The id of an organization of Ann, of which Bob is a member."""
    organization = make_organization(
        get_user_model().objects.get(pk=world.ann.user_id),
        member=[get_user_model().objects.get(pk=world.bob)],
    )
    return str(organization.pk)


def in_organization(path: str, **body: Any) -> Request:
    """A request below that organization, which has invited a dog."""

    def request(world: World) -> tuple[str, Any]:
        org, dog = f"org/{acme(world)}", {"email": "dog@example.com"}
        sent = world.api.request("POST", f"{org}/invite", dog, token=world.ann.token)
        return org + path.format(bob=world.bob, dog=sent.data["id"]), body

    return request


def without_floods(request: Request) -> Request:
    """The same where limits on mails do not apply: the address got one a moment ago."""

    def changed(world: World) -> tuple[str, Any]:
        world.configure(THROTTLE={"ENABLED": False})
        return request(world)

    return changed


def to_delete(path: str) -> Request:
    """By a super admin beside another, where the project allows it."""

    def request(world: World) -> tuple[str, Any]:
        promote("bob@example.com")
        world.configure(CORE={"ALLOW_SELF_DELETE": True})
        return path, {"password": PASSWORD}

    return request


def linked(world: World) -> tuple[str, Any]:
    module = import_module("authservice.oauth.models")
    rows = module.LinkedAccount.objects
    rows.create(user_id=world.ann.user_id, provider="1", subject="a", subject_key="a" * 64)
    return "oauth/1", {}


def holder(world: World) -> Any:
    """Ann with a security key in her hand, which her account does not have yet."""
    made = import_module("tests.passkeys.people").Holder
    return made(world.api, ANN, token=world.ann.token, user_id=world.ann.user_id)


def new_passkey(world: World) -> tuple[str, Any]:
    person = holder(world)
    begun = person.options()
    credential = person.device.create(begun["options"])
    return "passkeys", {"request_token": begun["request_token"], "credential": credential}


def own_passkey(**body: Any) -> Request:
    """A request about a passkey of Ann."""
    return lambda world: (f"passkeys/{holder(world).enrol()['id']}", body)


def step_up_answer(world: World) -> tuple[str, Any]:
    asked = world.api.post("step-up", token=world.ann.token)
    temp_token = asked.data["challenges"][0]["data"]["temp_token"]
    return "step-up/verify", {"temp_token": temp_token, "password": PASSWORD}


REQUESTS: dict[str, Request] = {
    "POST logout": to("logout"),
    "PUT profile": to("profile", name="Anna", phone="+4930123456", avatar="https://a.example/b"),
    "PATCH profile": to("profile", name="Anna", phone="+4930123456"),
    "PUT change-username": to("change-username", username="anna", password=PASSWORD),
    "DELETE me": to_delete("me"),
    "POST me/delete": to_delete("me/delete"),
    "POST change-email": to("change-email", email="eve@example.com", password=PASSWORD),
    "PUT change-password": to("change-password", old_password=PASSWORD, new_password=NEW),
    "DELETE sessions": to("sessions"),
    "DELETE sessions/1": to("sessions/{other}"),
    "POST step-up": to("step-up"),
    "POST step-up/verify": step_up_answer,
    "POST passkeys": new_passkey,
    "POST passkeys/options": to("passkeys/options"),
    "PUT passkeys/1": own_passkey(name="Key", second_factor=True),
    "DELETE passkeys/1": own_passkey(),
    "POST 2fa/setup": to("2fa/setup"),
    "POST 2fa/verify": with_code("2fa/verify", World.pending),
    "POST 2fa/disable": with_code("2fa/disable", World.enrolled),
    "POST 2fa/backup-codes": with_code("2fa/backup-codes", World.enrolled),
    "POST admin/users": to("admin/users", email="cat@example.com", username="cat", password=NEW),
    "PUT admin/users/1": to("admin/users/{bob}", name="Robert"),
    "DELETE admin/users/1": to("admin/users/{bob}"),
    "POST admin/users/1/suspend": to("admin/users/{bob}/suspend"),
    "POST admin/users/1/reactivate": to("admin/users/{bob}/reactivate"),
    "POST admin/users/1/logout": to("admin/users/{bob}/logout"),
    "POST admin/users/1/reset-password": to("admin/users/{bob}/reset-password"),
    "POST invitations": to("invitations", email="eve@example.com"),
    "DELETE invitations/1": to_invitation("invitations/{}"),
    "POST invitations/1/resend": to_invitation("invitations/{}/resend"),
    "POST oauth/1/link": to("oauth/1/link"),
    "DELETE oauth/1": linked,
    "POST admin/audit/cleanup": to("admin/audit/cleanup"),
    "POST org": to("org", name="Acme"),
    "POST org/switch": lambda world: ("org/switch", {"org_id": acme(world)}),
    "PUT org/1": in_organization("", name="New"),
    "DELETE org/1": in_organization(""),
    "PUT org/1/members/1": in_organization("/members/{bob}", role="admin"),
    "DELETE org/1/members/1": in_organization("/members/{bob}"),
    "POST org/1/invite": in_organization("/invite", email="cat@example.com"),
    "DELETE org/1/invitations/1": in_organization("/invitations/{dog}"),
    "POST org/1/invitations/1/resend": without_floods(in_organization("/invitations/{dog}/resend")),
}
# They write nothing: their challenges are signed texts, which an ended session cannot answer.
UNWRITTEN = {"POST step-up", "POST passkeys/options"}
ROUTES = sorted(str(route) for route in protected() if route in with_a_body())


@pytest.fixture(autouse=True, scope="module")
def _messenger() -> Iterator[None]:
    """Some actions of staff need a module that sends mail."""
    with mounted(*(() if apps.is_installed("authservice.notification") else (MESSENGER,))):
        yield


@pytest.fixture
def world(api: Api, clock: Any, configure: Any) -> World:
    bob = api.sign_up("bob@example.com")["user"]["id"]
    ann = import_module("tests.twofactor.people").Person(api)
    return World(api, clock, ann.sign_up(), bob, configure)


def end(world: World) -> None:
    rows = Session.objects.filter(user=world.ann.user_id).exclude(pk=world.other.pk)
    rows.update(ended_at=timezone.now(), end_reason="test")


def stored() -> dict[str, list[Any]]:
    """All rows but the counters of attempts, which a refusal must not roll back."""
    ours = [model for app in _ours() for model in app.get_models() if model is not AttemptCounter]
    using = databases.primary()
    return {
        model.__name__: list(model._base_manager.using(using).order_by("pk").values_list())
        for model in [get_user_model(), *ours]
    }


def _ours() -> list[Any]:
    return [app for app in apps.get_app_configs() if app.name.startswith("authservice.")]


def ask(world: World, route: str) -> Any:
    method, _, _ = route.partition(" ")
    path, body = REQUESTS[route](world)
    return lambda: world.api.request(method, path, body, token=world.ann.token)


def test_every_route_that_changes_something_is_listed():
    assert set(ROUTES) <= set(REQUESTS)


@pytest.mark.parametrize("route", ROUTES)
def test_request_in_a_valid_session_succeeds(world, route):
    assert ask(world, route)().status in (200, 201)


@pytest.mark.parametrize("route", ROUTES)
def test_request_whose_session_ends_once_it_is_identified_changes_nothing(
    world, monkeypatch, route
):
    request, identify, before = ask(world, route), Endpoint._identify, []

    def identify_and_end(endpoint: Endpoint, request: Any) -> None:
        identify(endpoint, request)
        # Not by the row of the session: a route that reads only that row would still fail here.
        Account.objects.filter(pk=world.ann.user_id).update(token_version=F("token_version") + 1)
        before.append(stored())

    office.jobs.clear()
    monkeypatch.setattr(Endpoint, "_identify", identify_and_end)

    answer = request()

    assert answer.error == ((200, "") if route in UNWRITTEN else REFUSED)
    assert stored() == before[0]
    assert (office.jobs, mail.outbox) == ([], [])


@stateless_login
@pytest.mark.parametrize("route", ROUTES)
def test_request_of_an_ended_session_changes_nothing_where_signatures_are_trusted(
    world, configure, route
):
    request = ask(world, route)
    end(world)
    configure(STATELESS={"CHECK": "signature"})
    before = stored()

    answer = request()

    assert answer.error == REFUSED
    assert stored() == before
