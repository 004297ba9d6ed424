"""Requests to the routes of identity providers, and the audit entries that they write."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.models import OneTimeToken
from authservice.oauth.provider import ProviderError, TokenExchangeFailed, UserInfoFailed
from tests.audit.world import BOB, WRONG, case, silent
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import SETTINGS, office
from tests.support.aging import age_sessions
from tests.support.flows import deactivate, prove

START, UNLINK = "GET /oauth/{provider}", "DELETE /oauth/{provider}"
LINK = "POST /oauth/{provider}/link"
CALLBACK, FORM = "GET /oauth/{provider}/callback", "POST /oauth/{provider}/callback"
NONCE, TOKEN = "POST /oauth/{provider}/nonce", "POST /oauth/{provider}/token"
NEW, DONE = "security.new_device ann", "auth.login.success ann"
FAILED, LINKED = "auth.login.failed ann", "auth.oauth.linked ann"
SIGNUP = ("auth.signup new_user", "user.email.verified new_user", "auth.oauth.linked new_user")
UNVERIFIED = (
    "auth.signup new_user",
    "auth.oauth.linked new_user",
    "auth.login.failed new_user",
)
TAKEOVER = (
    "security.session.revoked ann",
    "user.phone.changed ann",
    "user.email.verified ann",
)
HERS = profile()


def configured(world, provider="acme", **keys):
    form = {**SETTINGS, "FORM_POST": True}
    off = {**form, "ENABLED": False}
    office.reset()
    world.configure(
        OAUTH={"PROVIDERS": {"acme": SETTINGS, "acme-form": form, "acme-off": off}, **keys}
    )
    return Browser(world.api)


class Way:
    """A way to log in with a provider: `ready` returns the request that completes it."""

    def __init__(self, route, provider="acme"):
        self.route, self.provider = route, provider

    def ready(self, world, who=HERS, **keys):
        browser = configured(world, **keys)
        if self.route == TOKEN:
            nonce = world.api.post("oauth/acme/nonce").data["nonce"]
            token = office.id_token(who, nonce)
            return lambda: world.api.post("oauth/acme/token", id_token=token, nonce=nonce)
        address = office.approve(browser.start(self.provider), who)
        send = browser.post_back if self.route == FORM else browser.come_back
        return lambda: send(address)

    def to(self, provider):
        """The request of a route of another provider."""
        path = f"oauth/{provider}/" + ("token" if self.route == TOKEN else "callback")
        method = "GET" if self.route == CALLBACK else "POST"
        return lambda world: world.api.request(method, path)


for way in (Way(CALLBACK), Way(FORM, "acme-form"), Way(TOKEN)):

    def login_that_links_the_account(world, way=way):
        prove()
        return way.ready(world)

    def login_with_a_linked_provider(world, way=way):
        prove()
        way.ready(world)()
        return way.ready(world)

    def login_that_proves_the_address(world, way=way):
        return way.ready(world)

    def login_of_a_new_user(world, way=way):
        return way.ready(world, profile("new", "new@example.com"))

    def unverified_address(world, way=way):
        return way.ready(world, profile(email_verified=False))

    def linking_turned_off(world, way=way):
        return way.ready(world, ALLOW_ACCOUNT_LINKING=False)

    def sign_up_turned_off(world, way=way):
        return way.ready(world, profile("new", "new@example.com"), ALLOW_SIGNUP=False)

    def no_address(world, way=way):
        return way.ready(world, profile("new", ""))

    def another_user_of_the_provider(world, way=way):
        prove()
        way.ready(world)()
        return way.ready(world, profile("her-successor"))

    def inactive_user(world, way=way):
        act = way.ready(world)
        deactivate()
        return act

    def unverified_number(world, way=way):
        prove()
        way.ready(world)()
        act = way.ready(world)
        world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
        return act

    def unverified_new_user(world, way=way):
        act = way.ready(world, profile("new", "new@example.com", email_verified=False))
        world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
        return act

    def second_use(world, way=way):
        act = way.ready(world)
        act()
        return act

    def refused_code(world, way=way):
        act = way.ready(world)
        office.failing = TokenExchangeFailed
        return act

    def no_profile(world, way=way):
        act = way.ready(world)
        office.failing = UserInfoFailed
        return act

    def unknown_state(world, way=way):
        configured(world)
        provider = way.provider
        if way.route == TOKEN:
            body = {"id_token": "a", "nonce": "b"}
            return lambda: world.api.post("oauth/acme/token", **body)
        return lambda: way.to(provider)(world)

    def expired_state(world, way=way):
        act = way.ready(world)
        expire()
        return act

    def unknown_provider(world, way=way):
        configured(world)
        return lambda: way.to("nowhere")(world)

    def disabled_provider(world, way=way):
        configured(world)
        return lambda: way.to("acme-off")(world)

    case(way.route, LINKED, NEW, DONE)(login_that_links_the_account)
    case(way.route, NEW, DONE)(login_with_a_linked_provider)
    case(way.route, *TAKEOVER, LINKED, NEW, DONE)(login_that_proves_the_address)
    case(way.route, *SIGNUP, "auth.login.success new_user")(login_of_a_new_user)
    case(way.route, FAILED, code="OAUTH_EMAIL_EXISTS")(unverified_address)
    case(way.route, FAILED, code="OAUTH_ACCOUNT_LINKING_DISABLED")(linking_turned_off)
    case(way.route, code="OAUTH_SIGNUP_DISABLED")(sign_up_turned_off)
    case(way.route, code="OAUTH_EMAIL_REQUIRED")(no_address)
    case(way.route, FAILED, code="OAUTH_ALREADY_LINKED")(another_user_of_the_provider)
    case(way.route, FAILED, code="USER_NOT_ACTIVE")(inactive_user)
    case(way.route, FAILED, code="PHONE_NOT_VERIFIED")(unverified_number)
    case(way.route, *UNVERIFIED, code="EMAIL_NOT_VERIFIED")(unverified_new_user)
    case(way.route, code="OAUTH_STATE_USED")(second_use)
    case(way.route, code="OAUTH_TOKEN_EXCHANGE_FAILED")(refused_code)
    case(way.route, code="OAUTH_USER_INFO_FAILED")(no_profile)
    case(way.route, code="OAUTH_INVALID_STATE")(unknown_state)
    case(way.route, code="OAUTH_STATE_EXPIRED")(expired_state)
    case(way.route, code="OAUTH_PROVIDER_NOT_FOUND")(unknown_provider)
    case(way.route, code="OAUTH_PROVIDER_DISABLED")(disabled_provider)


def expire():
    past = timezone.now() - timedelta(seconds=1)
    OneTimeToken.objects.filter(purpose__startswith="oauth-").update(expires_at=past)


for way in (Way(CALLBACK), Way(FORM, "acme-form")):

    def cancelled(world, way=way):
        act = way.ready(world)
        office.failing = ProviderError
        return act

    case(way.route, code="OAUTH_PROVIDER_ERROR")(cancelled)


@case(FORM, code="METHOD_NOT_ALLOWED")
def form_of_a_provider_that_sends_none(world):
    configured(world)
    return lambda: world.api.post("oauth/acme/callback")


silent("GET /oauth/providers", lambda world: world.api.get("oauth/providers"))
silent("GET /oauth/linked", lambda world: world.as_ann("GET", "oauth/linked"))


@case(START)
def start(world):
    configured(world)
    return lambda: world.api.get("oauth/acme")


@case(NONCE)
def nonce(world):
    configured(world)
    return lambda: world.api.post("oauth/acme/nonce")


@case(LINK)
def start_of_linking(world):
    configured(world)
    return lambda: world.as_ann("POST", "oauth/acme/link")


@case(CALLBACK, LINKED)
def linking(world):
    prove()
    browser = configured(world)
    address = office.approve(browser.start_linking(world.token).data["url"], HERS)
    return lambda: browser.come_back(address)


@case(CALLBACK, code="OAUTH_ALREADY_LINKED")
def linking_of_an_identity_of_another_account(world):
    browser = configured(world)
    browser.link(world.bob["access_token"], profile("bob", BOB))
    address = office.approve(browser.start_linking(world.token).data["url"], profile("bob", BOB))
    return lambda: browser.come_back(address)


for route, method, path in ((START, "GET", ""), (LINK, "POST", "/link"), (NONCE, "POST", "/nonce")):

    def provider_that_is_unknown(world, method=method, path=path):
        configured(world)
        return lambda: world.as_ann(method, f"oauth/nowhere{path}")

    def provider_that_is_disabled(world, method=method, path=path):
        configured(world)
        return lambda: world.as_ann(method, f"oauth/acme-off{path}")

    case(route, code="OAUTH_PROVIDER_NOT_FOUND")(provider_that_is_unknown)
    case(route, code="OAUTH_PROVIDER_DISABLED")(provider_that_is_disabled)

for route, method, path in ((START, "GET", ""), (LINK, "POST", "/link")):

    def provider_that_does_not_answer(world, method=method, path=path):
        configured(world)
        office.failing = ProviderError
        return lambda: world.as_ann(method, f"oauth/acme{path}")

    case(route, code="OAUTH_PROVIDER_ERROR")(provider_that_does_not_answer)


@case(LINK, "auth.reauthentication.failed ann", code="INVALID_CREDENTIALS")
def wrong_password(world):
    configured(world)
    return lambda: world.as_ann("POST", "oauth/acme/link", password=WRONG)


@case(LINK, "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def too_many_wrong_passwords(world):
    wrong = wrong_password(world)
    for _ in range(10):
        wrong()
    return wrong


@case(LINK, code="REAUTHENTICATION_REQUIRED")
def old_session(world):
    configured(world)
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions(minutes=60)
    return lambda: world.as_ann("POST", "oauth/acme/link")


@case(UNLINK, "auth.oauth.unlinked ann")
def unlinking(world):
    configured(world).link(world.token, HERS)
    return lambda: world.as_ann("DELETE", "oauth/acme")


@case(UNLINK, code="OAUTH_NOT_LINKED")
def unlinking_what_is_not_linked(world):
    configured(world)
    return lambda: world.as_ann("DELETE", "oauth/acme")


@case(UNLINK, code="OAUTH_LAST_LOGIN_METHOD")
def unlinking_the_last_way(world):
    token = configured(world).sign_in(profile("new", "new@example.com", email_verified=False))
    sent = token.data["access_token"]
    return lambda: world.api.request("DELETE", "oauth/acme", token=sent)
