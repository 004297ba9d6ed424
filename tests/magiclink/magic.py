"""Asking for a link and using it, as a person does, and the post that brings it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from authservice.core.messages.compose import OutgoingMessage
from tests.client import Answer, Api
from tests.recovery.post import Post, query

ANN = "ann@example.com"
KIND = "magic-link"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FRONT = "https://app.example.com/signed-in"


@dataclass
class Pair:
    """What one mail brings."""

    token: str
    code: str


class Magic:
    def __init__(self, api: Api, post: Post) -> None:
        self.api, self.post = api, post

    def ask(self, email: str = ANN, *, path: str = "send", **headers: str) -> Answer:
        return self.api.post(f"magic-link/{path}", email=email, headers=dashed(headers))

    def mailed(self, email: str = ANN) -> Pair:
        """What comes when it is asked for."""
        assert self.ask(email).status == 200
        letter = self.letter()
        assert letter
        return pair_of(letter)

    def letter(self) -> OutgoingMessage | None:
        return self.post.letter(KIND)

    def follow(self, token: str, *, method: str = "GET", **headers: str) -> Answer:
        path = f"magic-link/verify?{urlencode({'token': token})}"
        return self.api.request(method, path, headers=dashed(headers))

    def push(self, token: str, **headers: str) -> Answer:
        """The button of the page."""
        return self.api.request(
            "POST",
            "magic-link/verify",
            urlencode({"token": token}),
            content_type="application/x-www-form-urlencoded",
            headers=dashed(headers),
        )

    def type(self, code: str, email: str = ANN, **headers: str) -> Answer:
        return self.api.post(
            "magic-link/verify-code", email=email, code=code, headers=dashed(headers)
        )


def pair_of(letter: OutgoingMessage) -> Pair:
    return Pair(query(letter.context["link"].reveal())["token"], letter.context["code"].reveal())


def dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def led_to(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Where a redirect leads: the address, and what its fragment says."""
    assert answer.status == 302, answer.response.content
    url = urlsplit(answer.headers["Location"])
    return url._replace(fragment="").geturl(), dict(parse_qsl(url.fragment, strict_parsing=True))
