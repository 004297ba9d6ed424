"""Users with passkeys, as a page and a browser act for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.passkeys.authenticator import Authenticator
from tests.support.client import Answer, Api

ANN = "ann@example.com"


@dataclass
class Holder:
    """A user who signed up, with a device; `enrol` adds a passkey to both."""

    api: Api
    email: str = ANN
    device: Authenticator = field(default_factory=Authenticator)
    token: str = ""
    refresh_token: str = ""
    user_id: str = ""

    def sign_up(self) -> Holder:
        signed_up = self.api.sign_up(self.email)
        self.token, self.user_id = signed_up["access_token"], signed_up["user"]["id"]
        self.refresh_token = signed_up["refresh_token"]
        return self

    def options(self, **wish: Any) -> Any:
        answer = self.post("passkeys/options", **wish)
        assert answer.status == 200, answer.body
        return answer.data

    def add(self, credential: Any = None, *, begun: Any = None, **wish: Any) -> Answer:
        begun = begun or self.options(second_factor=wish.get("second_factor", False))
        credential = credential or self.device.create(begun["options"])
        token = begun["request_token"]
        return self.post("passkeys", request_token=token, credential=credential, **wish)

    def enrol(self, **wish: Any) -> Any:
        answer = self.add(**wish)
        assert answer.status == 201, answer.body
        return answer.data

    def step_up(self) -> Holder:
        """Prove two factors with the passkey."""
        (challenge,) = self.post("step-up", acr="aal2").data["challenges"]
        temp_token = challenge["data"]["temp_token"]
        credential = self.device.get(challenge["data"]["passkey"])
        answer = self.post("step-up/verify", temp_token=temp_token, credential=credential)
        assert answer.status == 200, answer.body
        self.token = answer.data["access_token"]
        return self

    def login_options(self) -> Any:
        return begin_login(self.api)

    def sign(self, begun: Any, **change: Any) -> Any:
        return self.device.get(begun["options"], **change)

    def log_in(self, **change: Any) -> Answer:
        begun = self.login_options()
        return finish_login(self.api, begun, self.sign(begun, **change))

    def post(self, path: str, **body: Any) -> Answer:
        return self.api.post(path, token=self.token, **body)

    def get(self, path: str) -> Answer:
        return self.api.get(path, token=self.token)

    def put(self, path: str, **body: Any) -> Answer:
        return self.api.request("PUT", path, body, token=self.token)

    def delete(self, path: str) -> Answer:
        return self.api.request("DELETE", path, token=self.token)


def begin_login(api: Api) -> Any:
    answer = api.post("passkeys/login/options")
    assert answer.status == 200, answer.body
    return answer.data


def finish_login(api: Api, begun: Any, credential: Any) -> Answer:
    return api.post("passkeys/login", request_token=begun["request_token"], credential=credential)
