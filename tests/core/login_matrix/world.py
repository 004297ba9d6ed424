"""A service with every module, a user who logs in, and the credentials in its responses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authservice.core.models import Session
from tests.invitation.invites import Invites
from tests.magiclink.magic import Magic
from tests.oauth.browsing import Browser
from tests.support.client import Answer, Api
from tests.support.flows import Flows, prove
from tests.support.messenger.post import Post
from tests.twofactor.people import Person

MODULES = (
    "authservice.magiclink",
    "authservice.csrf",
    "authservice.twofactor",
    "authservice.invitation",
    "tests.support.messenger.apps.PostOffice",
)
USERNAME = "ann"
FRONT = "https://app.example.com/signed-in"
TOKENS = "tokens"

_JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}")
_COOKIES = ("authservice_access", "authservice_refresh")


@dataclass
class World:
    api: Api
    post: Post
    clock: Any
    configure: Callable[..., None]
    ann: Person
    consent: str = ""
    """The consent screen to which the browser was sent, if it was."""

    def __post_init__(self) -> None:
        signed_up = self.api.sign_up(self.ann.email, username=USERNAME)
        self.ann.token, self.ann.user_id = signed_up["access_token"], signed_up["user"]["id"]
        prove()
        self.post.jobs.clear()

    @property
    def magic(self) -> Magic:
        return Magic(self.api, self.post)

    @cached_property
    def invites(self) -> Invites:
        """Carol sends invitations."""
        carol = self.api.sign_up("carol@example.com")["access_token"]
        prove("carol@example.com")
        self.post.jobs.clear()
        return Invites(self.api, self.post, carol)

    def invited_to_organization(self, email: str) -> str:
        """The token in the mail of an invitation to an organization of Carol."""
        carol = self.invites.token
        made = self.api.request("POST", "org", {"name": "Acme"}, token=carol)
        path = f"org/{made.data['id']}/invite"
        assert self.api.request("POST", path, {"email": email}, token=carol).status == 201
        return self.post.token("org-invitation")

    @cached_property
    def browser(self) -> Browser:
        return Browser(self.api)

    @property
    def flows(self) -> Flows:
        return Flows(self.api, self.post)

    def sessions(self) -> int:
        """The number of active sessions of all users."""
        return Session.objects.filter(ended_at=None).count()


def outcome(answer: Answer) -> str:
    """`tokens`, the type of a challenge or an error code, from JSON or a redirect."""
    if answer.status == 302:
        values = dict(parse_qsl(urlsplit(answer.headers["Location"]).fragment))
        signed_in = values.get("status") == "signed_in"
        return TOKENS if signed_in else values.get("challenge") or values["error"]
    if answer.status >= 400:
        return str(answer.code)
    if "access_token" in answer.data:
        return TOKENS
    challenges = answer.data.get("challenges")
    return challenges[0]["type"] if challenges else "nothing"


def credentials_in(answer: Answer) -> list[str]:
    """Every credential in a response: in its body, its headers or its cookies."""
    response = answer.response
    texts = [response.content.decode(), *map(str, response.headers.values())]
    found = [jwt for text in texts for jwt in _JWT.findall(text)]
    found += [word for word in _refresh_tokens(answer) if word]
    return found + [name for name in _COOKIES if (c := response.cookies.get(name)) and c.value]


def tokens_in_address(answer: Answer) -> bool:
    """Whether a redirect has a token of a session in its address, as scripts and the history see
    it."""
    address = answer.headers.get("Location", "")
    cookies = [c.value for name in _COOKIES if (c := answer.response.cookies.get(name))]
    names = ("access_token", "refresh_token", *filter(None, cookies))
    return bool(_JWT.search(address)) or any(name in address for name in names)


def _refresh_tokens(answer: Answer) -> list[str]:
    try:
        values = json.loads(answer.response.content)["data"] or {}
    except ValueError:
        return []
    return [values.get("refresh_token", "")]
