"""Users with a second factor, and the authenticator app on their phone, which is pyotp here."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import pyotp

from authservice.core.users import lookup
from authservice.twofactor import enrolment
from tests.support.client import Answer, Api

ANN = "ann@example.com"


def app_of(uri: str) -> pyotp.TOTP:
    """An authenticator app that scanned the URI and knows only what the URI says."""
    return pyotp.parse_uri(uri)


def other_than(code: str, *others: str) -> str:
    """A code of six digits that is none of these."""
    taken = {code, *others}
    return next(text for n in range(9) if (text := f"{(int(code) + n) % 10**6:06d}") not in taken)


@dataclass
class Person:
    """A user who signed up; `enrol` sets up a second factor and confirms it."""

    api: Api
    email: str = ANN
    token: str = ""
    user_id: str = ""
    app: Any = None
    backup_codes: list[str] = field(default_factory=list)

    def sign_up(self) -> Person:
        signed_up = self.api.sign_up(self.email)
        self.token, self.user_id = signed_up["access_token"], signed_up["user"]["id"]
        return self

    def enrol(self) -> Person:
        """Sets up a second factor without its QR code, since drawing that takes the longest."""
        made = enrolment.set_up_to_log_in(lookup.find_by_id(self.user_id))
        self._hold(made.uri.reveal(), [code.reveal() for code in made.backup_codes])
        answer = self.post("2fa/verify", code=self.code())
        assert answer.status == 200, answer.body
        return self

    def set_up(self) -> Any:
        made = self.post("2fa/setup").data
        self._hold(made["qr_url"], made["backup_codes"])
        return made

    def _hold(self, uri: str, backup_codes: list[str]) -> None:
        self.app, self.backup_codes = app_of(uri), backup_codes

    def code(self, ahead: int = 0) -> str:
        """The code that the app shows, or will show `ahead` time steps later."""
        return self.app.at(int(time.time()) + 30 * ahead)

    def wrong_code(self) -> str:
        return other_than("000000", *(self.code(ahead) for ahead in (-1, 0, 1)))

    def post(self, path: str, **body: Any) -> Answer:
        return self.api.post(path, token=self.token, **body)

    def get(self, path: str) -> Answer:
        return self.api.get(path, token=self.token)

    def challenge(self, **more: Any) -> Any:
        """The only challenge in the response to a login with the password."""
        (challenge,) = self.api.log_in(self.email, **more)["challenges"]
        return challenge

    def temp_token(self, **more: Any) -> str:
        return self.challenge(**more)["data"]["temp_token"]

    def verify_login(self, code: str, temp_token: str = "", **more: Any) -> Answer:
        """Passes the second step; logs in with the password first if no temp_token is given."""
        given = temp_token or self.temp_token()
        return self.api.post("2fa/verify-login", temp_token=given, code=code, **more)
