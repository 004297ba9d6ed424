"""An owner, and a thief who stole one of her access tokens or signed up with her address."""

from __future__ import annotations

from typing import Any

from authservice.core.messages import kinds
from tests.support.client import PASSWORD, Answer
from tests.support.flows import ANN, NEW, OTHER_PHONE, Flows

STOLEN = "thief picked 9 locks"
THIEFS_PHONE = OTHER_PHONE


class Thief:
    """Uses one access token, whose session can end at any time."""

    def __init__(self, flows: Flows, token: str) -> None:
        self.flows, self.api, self.post, self.token = flows, flows.api, flows.post, token

    def put(self, **body: Any) -> Answer:
        return self.api.request("PUT", "profile", body, token=self.token)

    def plant_number(self, phone: str = THIEFS_PHONE, **proof: str) -> None:
        """Sets a number and verifies it."""
        assert self.put(phone=phone, **proof).status == 200
        assert (
            self.flows.verify_phone(
                self.flows.phone_code(phone, self.token), phone, self.token
            ).status
            == 200
        )

    def reset_by_number(self, phone: str = THIEFS_PHONE) -> bool:
        """Whether a reset code sent to the number sets a new password with which login succeeds."""
        self.api.post("forgot-password", phone=phone)
        message = self.post.outgoing(kinds.RESET_BY_CODE)
        code = message.context.get("code", "000000") if message else "000000"
        body = {"phone": phone, "code": code, "new_password": STOLEN}
        self.api.request("POST", "reset-password", body)
        return self.api.post("login", email=ANN, password=STOLEN).status == 200


def owner_resets(flows: Flows, **options: Any) -> None:
    assert flows.reset(flows.reset_token(), **options).status == 200


def log_in(flows: Flows, password: str = NEW) -> Any:
    return flows.api.post("login", email=ANN, password=password)


__all__ = ["PASSWORD", "STOLEN", "THIEFS_PHONE", "Thief", "log_in", "owner_resets"]
