"""Users with a client each, and what they do in organizations."""

from __future__ import annotations

from typing import Any

from authservice.organization.models import Membership, Organization
from tests.support.client import Answer, Api
from tests.support.people import the_user


class Person:
    """A signed-in user: `ann.get("org/my")`."""

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.email = api, f"{name}@example.com"
        data = api.sign_up(self.email, name=name.title())
        self.id: str = data["user"]["id"]
        self.keep(data)

    def keep(self, data: Any) -> None:
        """Use the tokens of a response from now on."""
        self.token, self.refresh_token = data["access_token"], data["refresh_token"]

    def request(self, method: str, path: str, body: Any = None) -> Answer:
        return self.api.request(method, path, body, token=self.token)

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def post(self, path: str, **body: Any) -> Answer:
        return self.request("POST", path, body)

    def put(self, path: str, **body: Any) -> Answer:
        return self.request("PUT", path, body)

    def delete(self, path: str) -> Answer:
        return self.request("DELETE", path)

    def found(self, name: str = "Acme", **more: Any) -> str:
        """The id of a new organization."""
        answer = self.post("org", name=name, **more)
        assert answer.status == 201, answer.body
        return answer.data["id"]

    def switch(self, org_id: str) -> Answer:
        answer = self.post("org/switch", org_id=org_id)
        if answer.status == 200:
            self.keep(answer.data)
        return answer

    def refresh(self) -> Answer:
        answer = self.api.post("refresh", refresh_token=self.refresh_token)
        if answer.status == 200:
            self.keep(answer.data)
        return answer

    def log_in(self) -> None:
        """Begin another session, since the access token has expired."""
        self.keep(self.api.log_in(self.email))

    @property
    def user(self) -> Any:
        return the_user(self.email)


def is_root(user: Any) -> bool:
    """A function for `ORGANIZATION.WHO_MAY_CREATE`."""
    return str(user.email) == "root@example.com"


def join(org_id: str, person: Person, role: str = "member") -> Membership:
    """Make the user a member, without an invitation."""
    organization = Organization.objects.get(pk=org_id)
    return Membership.objects.create(organization=organization, user=person.user, role=role)


def role_of(org_id: str, person: Person) -> str:
    """The role of a member, or an empty text."""
    rows = Membership.objects.filter(organization=org_id, user=person.user)
    return rows.values_list("role", flat=True).first() or ""


def owners(org_id: str) -> int:
    return Membership.objects.filter(organization=org_id, role="owner").count()
