"""An organization of Ann, and the requests to it that write audit entries."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

from authservice.organization.models import Membership, Organization
from tests.audit.world import World
from tests.support.client import Answer
from tests.support.people import the_user

EVE = "eve@example.com"
CREATE, SWITCH, LIST = "POST /org", "POST /org/switch", "GET /org/my"
ORG, MEMBERS, MEMBER = "/org/{org_id}", "/org/{org_id}/members", "/org/{org_id}/members/{user_id}"
INVITE, INVITATIONS = "POST /org/{org_id}/invite", "/org/{org_id}/invitations"
ONE = f"{INVITATIONS}/{{invitation_id}}"
ACCEPT, DECLINE = "POST /org/invitations/accept", "POST /org/invitations/decline"
UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"
SENT, CANCELLED = "org.invitation.sent ann new_user", "org.invitation.cancelled ann new_user"


class Acme:
    """An organization of Ann, and her requests to it."""

    def __init__(self, world: World, org_id: str = "") -> None:
        self.world = world
        self.id = org_id or world.as_ann("POST", "org", name="Acme").data["id"]

    def ask(self, method: str, path: str = "", *, token: str = "", **body: Any) -> Answer:
        bearer = token or self.world.token
        return self.world.api.request(method, f"org/{self.id}{path}", body or None, token=bearer)

    def join(self, email: str, role: str = "member") -> Acme:
        assert self.world.bob
        organization = Organization.objects.get(pk=self.id)
        Membership.objects.create(organization=organization, user=the_user(email), role=role)
        return self

    @cached_property
    def invited(self) -> str:
        """The id of an invitation of Eve."""
        return self.ask("POST", "/invite", email=EVE).data["id"]

    def token(self, email: str = EVE) -> str:
        self.ask("POST", "/invite", email=email)
        return self.world.post.token("org-invitation")


def bob_id(world: World) -> str:
    return world.bob["user"]["id"]


# Each route below an organization, with a request that an owner may send.
SCOPED = {
    f"GET {ORG}": ("GET", ""),
    f"PUT {ORG}": ("PUT", "", {"name": "New"}),
    f"DELETE {ORG}": ("DELETE", ""),
    f"GET {MEMBERS}": ("GET", "/members"),
    f"GET {MEMBER}": ("GET", "/members/{bob}"),
    f"PUT {MEMBER}": ("PUT", "/members/{bob}", {"role": "admin"}),
    f"DELETE {MEMBER}": ("DELETE", "/members/{bob}"),
    INVITE: ("POST", "/invite", {"email": EVE}),
    f"GET {INVITATIONS}": ("GET", "/invitations"),
    f"DELETE {ONE}": ("DELETE", "/invitations/{eve}"),
    f"POST {ONE}/resend": ("POST", "/invitations/{eve}/resend"),
}
LOGS = {
    f"PUT {ORG}": "org.updated ann new_user",
    f"DELETE {ORG}": "org.deleted ann new_user",
    f"PUT {MEMBER}": "org.member.role_changed ann bob",
    f"DELETE {MEMBER}": "org.member.removed ann bob",
    INVITE: SENT,
    f"DELETE {ONE}": CANCELLED,
    f"POST {ONE}/resend": SENT,
}


def act(acme: Acme, route: str, token: str = "", user: str = "", invitation: str = "") -> Any:
    method, path, *body = SCOPED[route]
    known = {"bob": user or bob_id(acme.world)}
    if "{eve}" in path:
        known["eve"] = invitation or acme.invited
    fields = body[0] if body else {}
    return partial(acme.ask, method, path.format(**known), token=token, **fields)
