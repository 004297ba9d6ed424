"""The steps that return tokens after a step-up, and after a passkey as the second factor.

A step-up logs nobody in: it continues the session of the user, whose new access token says more.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tests.core.login_matrix.login_path import LoginPath
from tests.core.login_matrix.world import World
from tests.passkeys.people import Holder
from tests.support.client import PASSWORD, Answer


class StepUp(LoginPath):
    """The user is signed in and confirms it with the password."""

    acr: ClassVar[str] = "aal1"
    begins_session: ClassVar[bool] = False

    def prepare(self, world: World) -> Any:
        token = world.api.log_in(world.ann.email)["access_token"]
        return token, self.challenge(world, token)

    def challenge(self, world: World, token: str) -> Any:
        answer = world.api.post("step-up", token=token, acr=self.acr)
        assert answer.status == 200, answer.body
        return answer.data["challenges"][0]["data"]

    def complete(self, world: World, proof: Any) -> Answer:
        token, challenge = proof
        return self.confirm(world, token, challenge, password=PASSWORD)

    def confirm(self, world: World, token: str, challenge: Any, **proof: Any) -> Answer:
        temp_token = challenge["temp_token"]
        return world.api.post("step-up/verify", token=token, temp_token=temp_token, **proof)

    def use_up_limit(self, world: World, proof: Any) -> None:
        token, challenge = proof
        for _ in range(10):
            self.confirm(world, token, challenge, password="not hers at all")


class StepUpWithCode(StepUp):
    acr = "aal2"

    def prepare(self, world: World) -> Any:
        world.ann.enrol()
        world.clock.forward(seconds=30)
        return world.ann.token, self.challenge(world, world.ann.token)

    def complete(self, world: World, proof: Any) -> Answer:
        token, challenge = proof
        return self.confirm(world, token, challenge, code=world.ann.code())

    def use_up_limit(self, world: World, proof: Any) -> None:
        token, challenge = proof
        for _ in range(10):
            self.confirm(world, token, challenge, code=world.ann.wrong_code())


class StepUpWithPasskey(StepUp):
    acr = "phr"

    def prepare(self, world: World) -> Any:
        holder = Holder(world.api, world.ann.email)
        holder.token = world.api.log_in(world.ann.email)["access_token"]
        holder.enrol()
        return holder, self.challenge(world, holder.token)

    def complete(self, world: World, proof: Any) -> Answer:
        holder, challenge = proof
        credential = holder.device.get(challenge["passkey"])
        return self.confirm(world, holder.token, challenge, credential=credential)

    def use_up_limit(self, world: World, proof: Any) -> None:
        LoginPath.use_up_limit(self, world, proof)


class SecondStepWithPasskey(LoginPath):
    """The user has typed the password, and the second factor is a key."""

    def prepare(self, world: World) -> Any:
        # The session in which the user may set up an app later: other sessions end here, and an
        # app beside the passkey needs two factors.
        holder = Holder(world.api, world.ann.email, token=world.ann.token)
        holder.enrol(second_factor=True)
        world.ann.token = holder.step_up().token
        return holder, world.ann.challenge()["data"]

    def complete(self, world: World, proof: Any) -> Answer:
        holder, challenge = proof
        credential = holder.device.get(challenge["passkey"])
        return self.answer(world, challenge, credential)

    def answer(self, world: World, challenge: Any, credential: Any) -> Answer:
        temp_token = challenge["temp_token"]
        return world.api.post("2fa/verify-login", temp_token=temp_token, credential=credential)

    def use_up_limit(self, world: World, proof: Any) -> None:
        _, challenge = proof
        for _ in range(5):
            self.answer(world, challenge, {"id": "wrong"})


STEP_UP_PATHS = (
    StepUp("POST step-up/verify", "step-up"),
    StepUpWithCode("POST step-up/verify", "step-up, code"),
    StepUpWithPasskey("POST step-up/verify", "step-up, passkey"),
)
