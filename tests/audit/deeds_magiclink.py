"""Deeds at the routes of magic links, and what the log says of them."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.models import OneTimeToken
from tests.audit.world import deed
from tests.magiclink.magic import Magic
from tests.recovery.flows import prove, wrong

LINK, BUTTON, CODE = (
    "GET /magic-link/verify",
    "POST /magic-link/verify",
    "POST /magic-link/verify-code",
)
NEW, DONE = "security.new_device ann", "auth.login.success ann"
FAILED = "auth.login.failed ann"
WIPED = (
    "security.session.revoked ann",
    "user.phone.changed ann",
    "user.email.verified ann",
)


def magic(world):
    return Magic(world.api, world.post)


def pair(world, *, proven=True):
    """What a mail to Ann brings."""
    if proven:
        prove()
    return magic(world).mailed()


def use(world, road, given):
    by = magic(world)
    uses = {LINK: by.follow, BUTTON: by.push, CODE: by.type}
    return lambda: uses[road](given)


def right(world, road, **how):
    mailed = pair(world, **how)
    return use(world, road, mailed.code if road == CODE else mailed.token)


for path in ("send", "resend"):

    def asking(world, path=path):
        return lambda: magic(world).ask(path=path)

    def asking_where_nobody_mails(world, path=path):
        world.close_the_post()
        return lambda: magic(world).ask(path=path)

    deed(f"POST /magic-link/{path}", "auth.magiclink.sent ann", delivered=True)(asking)
    deed(f"POST /magic-link/{path}", code="EMAIL_NOT_CONFIGURED")(asking_where_nobody_mails)

for road in (LINK, BUTTON, CODE):

    def signing_in_by_mail(world, road=road):
        return right(world, road)

    def proving_the_address_for_the_first_time(world, road=road):
        return right(world, road, proven=False)

    def signing_in_with_a_number_to_verify(world, road=road):
        act = right(world, road)
        world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
        return act

    def a_second_use(world, road=road):
        act = right(world, road)
        act()
        return act

    spent = "INVALID_VERIFICATION_CODE" if road == CODE else "INVALID_TOKEN"
    deed(road, NEW, DONE)(signing_in_by_mail)
    deed(road, *WIPED, NEW, DONE)(proving_the_address_for_the_first_time)
    deed(road, FAILED, code="PHONE_NOT_VERIFIED")(signing_in_with_a_number_to_verify)
    deed(road, FAILED, code=spent)(a_second_use)

for road in (LINK, BUTTON):

    def a_link_that_is_none(world, road=road):
        return use(world, road, "A" * 43)

    def an_expired_link(world, road=road):
        act = right(world, road)
        OneTimeToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        return act

    deed(road, code="INVALID_TOKEN")(a_link_that_is_none)
    deed(road, FAILED, code="TOKEN_EXPIRED")(an_expired_link)


@deed(CODE, FAILED, code="INVALID_VERIFICATION_CODE")
def a_wrong_code(world):
    return use(world, CODE, wrong(pair(world).code))


@deed(CODE, "auth.login.failed user", code="INVALID_VERIFICATION_CODE")
def a_code_for_nobody(world):
    return lambda: magic(world).type("123456", "nobody@example.com")


@deed(LINK)
def is_prefetch(world):
    token = pair(world).token
    return lambda: magic(world).follow(token, Purpose="prefetch")
