"""Every login path that ends with tokens: what it needs, and the step that returns the tokens."""

from __future__ import annotations

from typing import Any

from tests.core.login_matrix.invited_paths import INVITED_PATHS
from tests.core.login_matrix.login_path import LoginPath
from tests.core.login_matrix.step_up_paths import STEP_UP_PATHS, SecondStepWithPasskey
from tests.core.login_matrix.world import FRONT, USERNAME, World
from tests.oauth.browsing import ANN, Browser, profile
from tests.oauth.in_process import SETTINGS, office
from tests.passkeys.people import Holder, finish_login
from tests.support.client import PASSWORD, Answer
from tests.support.flows import wrong
from tests.twofactor.people import app_of


class Password(LoginPath):
    typed = ("email", "ann@example.com")

    def complete(self, world: World, proof: Any) -> Answer:
        return world.api.post("login", **dict([self.typed]), password=PASSWORD)

    def use_up_limit(self, world: World, proof: Any) -> None:
        for _ in range(10):
            world.api.post("login", **dict([self.typed]), password="not hers at all")


class Username(Password):
    typed = ("username", USERNAME)


class SignUp(LoginPath):
    def complete(self, world: World, proof: Any) -> Answer:
        return world.api.post("signup", email="new@example.com", password=PASSWORD)

    def use_up_limit(self, world: World, proof: Any) -> None:
        world.configure(THROTTLE={"RATES": {"signup": "1/h"}})
        world.api.post("signup", email="first@example.com", password=PASSWORD)


class Refresh(LoginPath):
    def prepare(self, world: World) -> Any:
        return world.api.log_in(world.ann.email)["refresh_token"]

    def complete(self, world: World, proof: Any) -> Answer:
        return world.api.post("refresh", refresh_token=proof)

    def use_up_limit(self, world: World, proof: Any) -> None:
        world.configure(THROTTLE={"RATES": {"refresh": "1/h"}})
        world.api.post("refresh", refresh_token=proof)


class Link(LoginPath):
    def prepare(self, world: World) -> Any:
        return world.magic.mailed().token

    def complete(self, world: World, proof: Any) -> Answer:
        return world.magic.follow(proof)


class LinkRedirected(Link):
    def complete(self, world: World, proof: Any) -> Answer:
        world.configure(MAGICLINK={"CALLBACK_URL": FRONT})
        return super().complete(world, proof)


class Button(Link):
    def complete(self, world: World, proof: Any) -> Answer:
        return world.magic.submit(proof)


class ButtonRedirected(Button):
    def complete(self, world: World, proof: Any) -> Answer:
        world.configure(MAGICLINK={"CALLBACK_URL": FRONT})
        return super().complete(world, proof)


class Code(LoginPath):
    def prepare(self, world: World) -> Any:
        return world.magic.mailed().code

    def complete(self, world: World, proof: Any) -> Answer:
        return world.magic.type(proof)

    def use_up_limit(self, world: World, proof: Any) -> None:
        for _ in range(5):
            world.magic.type(wrong(proof))


class SecondStep(LoginPath):
    def prepare(self, world: World) -> Any:
        world.ann.enrol()
        world.clock.forward(seconds=30)
        return world.ann.temp_token()

    def complete(self, world: World, proof: Any) -> Answer:
        return world.ann.verify_login(world.ann.code(), proof)

    def use_up_limit(self, world: World, proof: Any) -> None:
        for _ in range(5):
            world.ann.verify_login(world.ann.wrong_code(), proof)


class FirstEnrolment(LoginPath):
    """The second step of a user who must set up a factor before logging in."""

    def prepare(self, world: World) -> Any:
        world.configure(TWOFACTOR={"REQUIRED": "everybody"})
        temp_token = world.ann.temp_token()
        made = world.api.post("2fa/setup-login", temp_token=temp_token).data
        return temp_token, app_of(made["qr_url"])

    def complete(self, world: World, proof: Any) -> Answer:
        temp_token, app = proof
        return world.ann.verify_login(app.now(), temp_token)

    def use_up_limit(self, world: World, proof: Any) -> None:
        temp_token, app = proof
        for _ in range(5):
            world.ann.verify_login(wrong(app.now()), temp_token)


class Provider(LoginPath):
    """Ann logs in with a linked provider."""

    provider = "acme"

    def prepare(self, world: World) -> Any:
        Browser(world.api).sign_in(provider=self.provider)
        return self.start(world)

    def start(self, world: World, subject: str = "ann-at-acme", email: str = ANN) -> Any:
        browser = Browser(world.api)
        return browser, office.approve(browser.start(self.provider), profile(subject, email))

    def complete(self, world: World, proof: Any) -> Answer:
        browser, address = proof
        return browser.come_back(address)


class ProviderRedirected(Provider):
    def complete(self, world: World, proof: Any) -> Answer:
        world.configure(OAUTH={"PROVIDERS": {"acme": SETTINGS}, "DEFAULT_REDIRECT_URL": FRONT})
        return super().complete(world, proof)


class ProviderByForm(Provider):
    provider = "acme-form"

    def prepare(self, world: World) -> Any:
        browser, address = self.start(world)
        browser.post_back(address)
        return self.start(world)

    def complete(self, world: World, proof: Any) -> Answer:
        browser, address = proof
        return browser.post_back(address)


class ProviderByAddress(Provider):
    """The first login with the provider, which links the account with the address."""

    def prepare(self, world: World) -> Any:
        return self.start(world)


class ProviderSignUp(Provider):
    def prepare(self, world: World) -> Any:
        return self.start(world, "new-at-acme", "new@example.com")


class NativeApp(LoginPath):
    def prepare(self, world: World) -> Any:
        Browser(world.api).sign_in()
        nonce = world.api.post("oauth/acme/nonce").data["nonce"]
        return nonce, office.id_token(profile(), nonce)

    def complete(self, world: World, proof: Any) -> Answer:
        nonce, id_token = proof
        return world.api.post("oauth/acme/token", id_token=id_token, nonce=nonce)

    def use_up_limit(self, world: World, proof: Any) -> None:
        world.configure(THROTTLE={"RATES": {"oauth-native": "1/h"}})
        world.api.post("oauth/acme/token")


CALLBACK = "oauth/{provider}/callback"


class Passkey(LoginPath):
    """The key verifies its user: it is two factors already."""

    def prepare(self, world: World) -> Any:
        holder = Holder(world.api, world.ann.email)
        holder.token = world.api.log_in(world.ann.email)["access_token"]
        holder.enrol()
        return holder, holder.login_options()

    def complete(self, world: World, proof: Any) -> Answer:
        holder, begun = proof
        return finish_login(world.api, begun, holder.sign(begun))


LOGIN_PATHS = (
    Password("POST login", "password"),
    Username("POST login", "password of a username"),
    SignUp("POST signup", "signup"),
    Refresh("POST refresh", "refresh"),
    Link("GET magic-link/verify", "link"),
    LinkRedirected("GET magic-link/verify", "link, redirected"),
    Button("POST magic-link/verify", "button"),
    ButtonRedirected("POST magic-link/verify", "button, redirected"),
    Code("POST magic-link/verify-code", "code"),
    Provider(f"GET {CALLBACK}", "provider"),
    ProviderRedirected(f"GET {CALLBACK}", "provider, redirected"),
    ProviderByForm(f"POST {CALLBACK}", "provider, by a form"),
    ProviderByAddress(f"GET {CALLBACK}", "provider, by the address"),
    ProviderSignUp(f"GET {CALLBACK}", "provider, signup"),
    NativeApp("POST oauth/{provider}/token", "native app"),
    Passkey("POST passkeys/login", "passkey"),
    SecondStep("POST 2fa/verify-login", "second step"),
    FirstEnrolment("POST 2fa/verify-login", "first enrolment"),
    SecondStepWithPasskey("POST 2fa/verify-login", "second step, passkey"),
    *STEP_UP_PATHS,
    *INVITED_PATHS,
)
