"""Sends an invitation, reads its e-mail and answers it, as sender and recipient do."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from authservice.invitation.platform_invitations import KIND
from tests.support.client import PASSWORD, Answer, Api
from tests.support.messenger.post import Post

BOB = "bob@example.com"
NEW_PROFILE = {"name": "Bob", "password": PASSWORD}


class Invites:
    """`token` is the access token of the sender."""

    def __init__(self, api: Api, post: Post, token: str) -> None:
        self.api, self.post, self.token = api, post, token

    def send(self, email: str = BOB, **more: Any) -> Answer:
        return self.api.post("invitations", token=self.token, email=email, **more)

    def sent(self, email: str = BOB, **more: Any) -> str:
        """The id of a new invitation."""
        answer = self.send(email, **more)
        assert answer.status == 201, answer.body
        return answer.data["id"]

    def mailed(self, email: str = BOB, **more: Any) -> str:
        """The token in the mail of a new invitation."""
        self.sent(email, **more)
        return self.read()

    def read(self) -> str:
        """The token in the newest mail."""
        return self.post.token(KIND)

    def resend(self, invitation: str, *, token: str = "") -> Answer:
        return self.api.post(f"invitations/{invitation}/resend", token=token or self.token)

    def cancel(self, invitation: str, *, token: str = "") -> Answer:
        return self.api.request("DELETE", f"invitations/{invitation}", token=token or self.token)

    def accept(self, token: str, *, bearer: str = "", headers: Any = None, **more: Any) -> Answer:
        body = {"token": token, **more}
        return self.api.request("POST", "invitations/accept", body, token=bearer, headers=headers)

    def accept_as_new(self, token: str, **more: Any) -> Answer:
        return self.accept(token, **{**NEW_PROFILE, **more})

    def decline(self, token: str) -> Answer:
        return self.api.request("POST", "invitations/decline", {"token": token})

    def listed(self, query: str = "", *, token: str = "") -> Any:
        return self.api.get(f"invitations{query}", token=token or self.token).data

    def status(self, invitation: str) -> str:
        """The status that the list of the sender shows."""
        rows = self.listed("?limit=100")["list"]
        return next(row["status"] for row in rows if row["id"] == invitation)


def is_ann(user: Any) -> bool:
    """A function for `INVITATION.WHO_MAY_INVITE`."""
    return str(user.email) == "ann@example.com"


async def is_ann_later(user: Any) -> bool:
    """A function that the setting refuses."""
    return is_ann(user)


def lifetime(answer: Answer) -> timedelta:
    """From the creation of the invitation to its expiry."""
    created, expires = (
        datetime.fromisoformat(answer.data[name]) for name in ("created_at", "expires_at")
    )
    return expires - created
