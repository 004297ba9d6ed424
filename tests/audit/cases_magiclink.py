"""Requests to the routes of magic links, and the audit entries that they write."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.models import OneTimeToken
from tests.audit.world import case
from tests.magiclink.magic import Magic
from tests.support.flows import prove, wrong

LINK, BUTTON, CODE = (
    "GET /magic-link/verify",
    "POST /magic-link/verify",
    "POST /magic-link/verify-code",
)
NEW, DONE = "security.new_device ann", "auth.login.success ann"
FAILED = "auth.login.failed ann"
TAKEOVER = (
    "security.session.revoked ann",
    "user.phone.changed ann",
    "user.email.verified ann",
)


def magic(world):
    return Magic(world.api, world.post)


def mail(world, *, proven=True):
    """The link and the code of an e-mail to Ann."""
    if proven:
        prove()
    return magic(world).mailed()


def use(world, route, given):
    by = magic(world)
    actions = {LINK: by.follow, BUTTON: by.submit, CODE: by.type}
    return lambda: actions[route](given)


def valid(world, route, **how):
    mailed = mail(world, **how)
    return use(world, route, mailed.code if route == CODE else mailed.token)


for path in ("send", "resend"):

    def request_of_a_link(world, path=path):
        return lambda: magic(world).ask(path=path)

    def request_without_messenger(world, path=path):
        world.disable_messenger()
        return lambda: magic(world).ask(path=path)

    case(f"POST /magic-link/{path}", "auth.magiclink.sent ann", delivered=True)(request_of_a_link)
    case(f"POST /magic-link/{path}", code="EMAIL_NOT_CONFIGURED")(request_without_messenger)

for route in (LINK, BUTTON, CODE):

    def login(world, route=route):
        return valid(world, route)

    def login_that_verifies_the_address(world, route=route):
        return valid(world, route, proven=False)

    def login_with_unverified_number(world, route=route):
        act = valid(world, route)
        world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
        return act

    def second_use(world, route=route):
        act = valid(world, route)
        act()
        return act

    spent = "INVALID_VERIFICATION_CODE" if route == CODE else "INVALID_TOKEN"
    case(route, NEW, DONE)(login)
    case(route, *TAKEOVER, NEW, DONE)(login_that_verifies_the_address)
    case(route, FAILED, code="PHONE_NOT_VERIFIED")(login_with_unverified_number)
    case(route, FAILED, code=spent)(second_use)

for route in (LINK, BUTTON):

    def invalid_link(world, route=route):
        return use(world, route, "A" * 43)

    def expired_link(world, route=route):
        act = valid(world, route)
        OneTimeToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        return act

    case(route, code="INVALID_TOKEN")(invalid_link)
    case(route, FAILED, code="TOKEN_EXPIRED")(expired_link)


@case(CODE, FAILED, code="INVALID_VERIFICATION_CODE")
def wrong_code(world):
    return use(world, CODE, wrong(mail(world).code))


@case(CODE, "auth.login.failed user", code="INVALID_VERIFICATION_CODE")
def code_of_unknown_user(world):
    return lambda: magic(world).type("123456", "nobody@example.com")


@case(LINK)
def prefetch(world):
    token = mail(world).token
    return lambda: magic(world).follow(token, Purpose="prefetch")
