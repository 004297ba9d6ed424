"""Every road that ends with tokens: what is in hand before, and the step that brings them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.client import PASSWORD, Answer
from tests.doors.world import FRONT, USERNAME, World
from tests.recovery.flows import wrong
from tests.twofactor.people import app_of


@dataclass(frozen=True)
class Road:
    """`route` is the step that may yield tokens."""

    route: str
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.route

    def prepare(self, world: World) -> Any:
        """What somebody has in hand while all is well."""

    def walk(self, world: World, proof: Any) -> Answer:
        raise NotImplementedError

    def tire(self, world: World, proof: Any) -> None:
        """Use up what limits the road."""
        world.configure(THROTTLE={"RATES": {"default": "1/h"}})
        world.api.get("me")


class Password(Road):
    typed = ("email", "ann@example.com")

    def walk(self, world: World, proof: Any) -> Answer:
        return world.api.post("login", **dict([self.typed]), password=PASSWORD)

    def tire(self, world: World, proof: Any) -> None:
        for _ in range(10):
            world.api.post("login", **dict([self.typed]), password="not hers at all")


class Username(Password):
    typed = ("username", USERNAME)


class SignUp(Road):
    def walk(self, world: World, proof: Any) -> Answer:
        return world.api.post("signup", email="new@example.com", password=PASSWORD)

    def tire(self, world: World, proof: Any) -> None:
        world.configure(THROTTLE={"RATES": {"signup": "1/h"}})
        world.api.post("signup", email="first@example.com", password=PASSWORD)


class Refresh(Road):
    def prepare(self, world: World) -> Any:
        return world.api.log_in(world.ann.email)["refresh_token"]

    def walk(self, world: World, proof: Any) -> Answer:
        return world.api.post("refresh", refresh_token=proof)

    def tire(self, world: World, proof: Any) -> None:
        world.configure(THROTTLE={"RATES": {"refresh": "1/h"}})
        world.api.post("refresh", refresh_token=proof)


class Link(Road):
    def prepare(self, world: World) -> Any:
        return world.magic.mailed().token

    def walk(self, world: World, proof: Any) -> Answer:
        return world.magic.follow(proof)


class LinkRedirected(Link):
    def walk(self, world: World, proof: Any) -> Answer:
        world.configure(MAGICLINK={"CALLBACK_URL": FRONT})
        return super().walk(world, proof)


class Button(Link):
    def walk(self, world: World, proof: Any) -> Answer:
        return world.magic.push(proof)


class ButtonRedirected(Button):
    def walk(self, world: World, proof: Any) -> Answer:
        world.configure(MAGICLINK={"CALLBACK_URL": FRONT})
        return super().walk(world, proof)


class Code(Road):
    def prepare(self, world: World) -> Any:
        return world.magic.mailed().code

    def walk(self, world: World, proof: Any) -> Answer:
        return world.magic.type(proof)

    def tire(self, world: World, proof: Any) -> None:
        for _ in range(5):
            world.magic.type(wrong(proof))


class SecondStep(Road):
    def prepare(self, world: World) -> Any:
        world.ann.enrol()
        world.clock.forward(seconds=30)
        return world.ann.temp_token()

    def walk(self, world: World, proof: Any) -> Answer:
        return world.ann.verify_login(world.ann.code(), proof)

    def tire(self, world: World, proof: Any) -> None:
        for _ in range(5):
            world.ann.verify_login(world.ann.wrong_code(), proof)


class FirstEnrolment(Road):
    """The second step of somebody who has to set up a factor before they come in."""

    def prepare(self, world: World) -> Any:
        world.configure(TWOFACTOR={"REQUIRED": "everybody"})
        temp_token = world.ann.temp_token()
        made = world.api.post("2fa/setup-login", temp_token=temp_token).data
        return temp_token, app_of(made["qr_url"])

    def walk(self, world: World, proof: Any) -> Answer:
        temp_token, app = proof
        return world.ann.verify_login(app.now(), temp_token)

    def tire(self, world: World, proof: Any) -> None:
        temp_token, app = proof
        for _ in range(5):
            world.ann.verify_login(wrong(app.now()), temp_token)


ROADS = (
    Password("POST login", "password"),
    Username("POST login", "password of a username"),
    SignUp("POST signup", "signup"),
    Refresh("POST refresh", "refresh"),
    Link("GET magic-link/verify", "link"),
    LinkRedirected("GET magic-link/verify", "link, redirected"),
    Button("POST magic-link/verify", "button"),
    ButtonRedirected("POST magic-link/verify", "button, redirected"),
    Code("POST magic-link/verify-code", "code"),
    SecondStep("POST 2fa/verify-login", "second step"),
    FirstEnrolment("POST 2fa/verify-login", "first enrolment"),
)
