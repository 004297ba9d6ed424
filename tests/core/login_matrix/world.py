"""A service with every module, somebody who signs in to it, and what an answer of it gives away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authservice.core.models import Session
from tests.client import Answer, Api
from tests.magiclink.magic import Magic
from tests.recovery.flows import Flows, prove
from tests.recovery.post import Post
from tests.twofactor.people import Person

MODULES = (
    "authservice.magiclink",
    "authservice.csrf",
    "authservice.twofactor",
    "tests.recovery.apps.PostOffice",
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

    def __post_init__(self) -> None:
        signed_up = self.api.sign_up(self.ann.email, username=USERNAME)
        self.ann.token, self.ann.user_id = signed_up["access_token"], signed_up["user"]["id"]
        prove()
        self.post.jobs.clear()

    @property
    def magic(self) -> Magic:
        return Magic(self.api, self.post)

    @property
    def flows(self) -> Flows:
        return Flows(self.api, self.post)

    def sessions(self) -> int:
        """How many sign-ins stand, of anybody."""
        return Session.objects.filter(ended_at=None).count()


def outcome(answer: Answer) -> str:
    """`tokens`, the kind of a challenge, or the code of a refusal; whichever way it is said."""
    if answer.status == 302:
        said = dict(parse_qsl(urlsplit(answer.headers["Location"]).fragment))
        return TOKENS if "access_token" in said else said.get("challenge") or said["error"]
    if answer.status >= 400:
        return str(answer.code)
    if "access_token" in answer.data:
        return TOKENS
    challenges = answer.data.get("challenges")
    return challenges[0]["type"] if challenges else "nothing"


def given_away(answer: Answer) -> list[str]:
    """Whatever in an answer could open something: in its body, its headers or its cookies."""
    response = answer.response
    told = [response.content.decode(), *map(str, response.headers.values())]
    found = [jwt for text in told for jwt in _JWT.findall(text)]
    found += [word for word in _refresh_tokens(answer) if word]
    return found + [name for name in _COOKIES if (c := response.cookies.get(name)) and c.value]


def _refresh_tokens(answer: Answer) -> list[str]:
    if answer.status == 302:
        fragment = dict(parse_qsl(urlsplit(answer.headers["Location"]).fragment))
        return [fragment.get("refresh_token", "")]
    try:
        said = json.loads(answer.response.content)["data"] or {}
    except ValueError:
        return []
    return [said.get("refresh_token", "")]
