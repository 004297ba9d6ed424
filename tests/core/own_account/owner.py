"""The owner of an account: requests in her session, with her password unless another is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from tests.support.client import PASSWORD, Answer, Api
from tests.support.people import the_user

EVE = "eve@example.com"
CONFIRM = "change-email/confirm"
INVALID = (400, "INVALID_VERIFICATION_TOKEN")
REAUTHENTICATE = (403, "REAUTHENTICATION_REQUIRED")


@dataclass
class Owner:
    api: Api
    token: str
    user_id: str

    def ask(self, method: str, path: str, **body: Any) -> Answer:
        """A request with her password; `password=None` sends none."""
        sent = {"password": PASSWORD, **body}
        given = {name: value for name, value in sent.items() if value is not None}
        return self.api.request(method, path, given, token=self.token)

    def rename(self, username: str = "anna", **body: Any) -> Answer:
        return self.ask("PUT", "change-username", username=username, **body)

    def move(self, email: str = EVE, **body: Any) -> Answer:
        """Requests another address."""
        return self.ask("POST", "change-email", email=email, **body)

    def me(self) -> Any:
        return self.api.get("me", token=self.token).data


def without_password(owner: Owner) -> Owner:
    """The same owner, whose account has no password, in a session of now."""
    user = the_user()
    user.set_unusable_password()
    user.save()
    person = lookup.get_person(user)
    for session in Session.objects.filter(user=user.pk):
        sessions.rebind_password(person, session)
    return owner


def confirm(api: Api, token: str, **options: Any) -> Answer:
    """The button of the page, or a client that sends JSON."""
    return api.request("POST", CONFIRM, {"token": token}, **options)


def open_link(api: Api, token: str, **headers: str) -> Answer:
    return api.get(f"{CONFIRM}?token={token}", headers=headers)
