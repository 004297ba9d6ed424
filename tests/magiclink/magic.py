"""Requests a magic link, reads it from the e-mail and uses it, as a user does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from authservice.core.messages.compose import OutgoingMessage
from tests.support.client import Answer, Api
from tests.support.messenger.post import Post, query

ANN = "ann@example.com"
KIND = "magic-link"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FRONT = "https://app.example.com/signed-in"


@dataclass
class Pair:
    """The link token and the code of one e-mail."""

    token: str
    code: str


class Magic:
    def __init__(self, api: Api, post: Post) -> None:
        self.api, self.post = api, post

    def ask(self, email: str = ANN, *, path: str = "send", **headers: str) -> Answer:
        return self.api.post(f"magic-link/{path}", email=email, headers=dashed(headers))

    def mailed(self, email: str = ANN) -> Pair:
        """Requests a link; returns the token and the code of the e-mail."""
        assert self.ask(email).status == 200
        message = self.message()
        assert message
        return pair_of(message)

    def message(self) -> OutgoingMessage | None:
        return self.post.outgoing(KIND)

    def follow(self, token: str, *, method: str = "GET", **headers: str) -> Answer:
        path = f"magic-link/verify?{urlencode({'token': token})}"
        return self.api.request(method, path, headers=dashed(headers))

    def submit(self, token: str, **headers: str) -> Answer:
        """Submits the form of the confirmation page."""
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


def pair_of(message: OutgoingMessage) -> Pair:
    return Pair(query(message.context["link"].reveal())["token"], message.context["code"].reveal())


def dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def redirect_of(answer: Answer) -> tuple[str, dict[str, Any]]:
    """The target of a redirect: the URL, and the parameters of its fragment."""
    assert answer.status == 302, answer.response.content
    url = urlsplit(answer.headers["Location"])
    return url._replace(fragment="").geturl(), dict(parse_qsl(url.fragment, strict_parsing=True))
