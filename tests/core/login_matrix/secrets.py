"""Every secret that the service issues, and every place that accepts one."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from authservice.core.models import Account
from authservice.kernel.secret import Secret
from authservice.oauth.state import cookie as cookie_of
from tests.core.login_matrix.world import World
from tests.invitation.invites import Invites
from tests.oauth.browsing import profile
from tests.oauth.in_process import office
from tests.oauth.servers import parameters_of
from tests.support.client import PASSWORD, Answer
from tests.support.flows import prove

Issue = Callable[[World], str]
Use = Callable[[World, str], Answer]


def access_token(world: World) -> str:
    return world.ann.token


def refresh_token(world: World) -> str:
    token: str = world.api.log_in(world.ann.email)["refresh_token"]
    return token


def device_token(world: World) -> str:
    answer = world.api.post("login", email=world.ann.email, password=PASSWORD)
    return answer.headers["X-Device-Token"]


def temp_token(world: World) -> str:
    world.ann.enrol()
    world.clock.forward(seconds=30)
    return world.ann.temp_token()


def enrolment_token(world: World) -> str:
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    return world.ann.temp_token()


def magic_link(world: World) -> str:
    return world.magic.mailed().token


def reset_link(world: World) -> str:
    return world.flows.reset_token()


def verification_link(world: World) -> str:
    Account.objects.update(verified_email_key="")
    token = world.flows.email_token()
    prove()
    return token


def invitation_link(world: World) -> str:
    return world.invites.mailed(world.ann.email)


def csrf_token(world: World) -> str:
    token: str = world.api.get("csrf-token").data["csrf_token"]
    return token


def oauth_state(world: World) -> str:
    world.consent = world.browser.start()
    return parameters_of(world.consent)["state"]


def oauth_nonce(world: World) -> str:
    nonce: str = world.api.post("oauth/acme/nonce").data["nonce"]
    return nonce


def bearer(world: World, secret: str) -> Answer:
    return world.api.get("me", token=secret)


def access_cookie(world: World, secret: str) -> Answer:
    return world.api.get("me", headers={"Cookie": f"authservice_access={secret}"})


def refreshing(world: World, secret: str) -> Answer:
    return world.api.post("refresh", refresh_token=secret)


def refresh_cookie(world: World, secret: str) -> Answer:
    kept = f"authservice_refresh={secret}"
    pair = world.api.get("csrf-token", headers={"Cookie": kept}).data["csrf_token"]
    world.api.paired = False
    cookies = f"{kept}; __service_csrf={pair}"
    return world.api.post("refresh", headers={"X-CSRF-Token": pair, "Cookie": cookies})


def second_step(world: World, secret: str) -> Answer:
    code = world.ann.code() if world.ann.app else "123456"
    return world.api.post("2fa/verify-login", temp_token=secret, code=code)


def enrolling(world: World, secret: str) -> Answer:
    return world.api.post("2fa/setup-login", temp_token=secret)


def following(world: World, secret: str) -> Answer:
    return world.magic.follow(secret)


def accepting(world: World, secret: str) -> Answer:
    return Invites(world.api, world.post, "").accept_as_new(secret)


def declining(world: World, secret: str) -> Answer:
    return Invites(world.api, world.post, "").decline(secret)


def resetting(world: World, secret: str) -> Answer:
    return world.flows.reset(secret)


def verifying(world: World, secret: str) -> Answer:
    return world.flows.click(secret)


def guarded(world: World, secret: str) -> Answer:
    pair = {"X-CSRF-Token": secret, "Cookie": f"__service_csrf={secret}"}
    world.api.paired = False
    return world.api.post("login", email=world.ann.email, password=PASSWORD, headers=pair)


def known_device(world: World, secret: str) -> Answer:
    """Log in after unknown clients have used up the attempts; only a known device succeeds."""
    for _ in range(10):
        world.api.post("login", email=world.ann.email, password="not hers at all")
    headers = {"X-Device-Token": secret}
    return world.api.post("login", email=world.ann.email, password=PASSWORD, headers=headers)


def returning(world: World, secret: str) -> Answer:
    """The browser that started a login returns with the secret as its state."""
    consent = world.consent or world.browser.start()
    code = parameters_of(office.approve(consent, profile()))["code"]
    [cookie] = [value for name, value in world.browser.cookies.items() if "oauth" in name]
    # A longer state is refused for its length.
    sent = secret[:512]
    world.browser.cookies = {cookie_of(Secret(sent)): cookie}
    return world.browser.get(f"oauth/acme/callback?{urlencode({'state': sent, 'code': code})}")


def trading(world: World, secret: str) -> Answer:
    """A native app sends an ID token with the secret as its nonce."""
    nonce = secret[:128]
    id_token = office.id_token(profile(), nonce)
    return world.api.post("oauth/acme/token", id_token=id_token, nonce=nonce)


# The error code with which each place refuses a secret of another kind.
PLACES: dict[Use, str] = {
    bearer: "INVALID_TOKEN",
    access_cookie: "INVALID_TOKEN",
    refreshing: "INVALID_REFRESH_TOKEN",
    refresh_cookie: "INVALID_REFRESH_TOKEN",
    second_step: "INVALID_TOKEN",
    enrolling: "INVALID_TOKEN",
    following: "INVALID_TOKEN",
    accepting: "INVITATION_NOT_FOUND",
    declining: "INVITATION_NOT_FOUND",
    resetting: "INVALID_TOKEN",
    verifying: "INVALID_VERIFICATION_TOKEN",
    guarded: "INVALID_CSRF",
    known_device: "TOO_MANY_ATTEMPTS",
    returning: "OAUTH_INVALID_STATE",
    trading: "OAUTH_INVALID_STATE",
}
SECRETS: dict[Issue, tuple[Use, ...]] = {
    access_token: (bearer, access_cookie),
    refresh_token: (refreshing, refresh_cookie),
    device_token: (known_device,),
    temp_token: (second_step,),
    enrolment_token: (enrolling,),
    magic_link: (following,),
    invitation_link: (accepting, declining),
    reset_link: (resetting,),
    verification_link: (verifying,),
    csrf_token: (guarded,),
    oauth_state: (returning,),
    oauth_nonce: (trading,),
}
