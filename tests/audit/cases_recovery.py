"""Deeds with mailed and texted secrets, and what the log says of them."""

from __future__ import annotations

from django.utils import timezone

from authservice.core.models import OneTimeToken
from tests.audit.world import ANN, deed, silent
from tests.recovery.flows import PHONE, prove, wrong

SHORT = "short1!"


@deed("POST /forgot-password", "auth.password.reset_requested ann", delivered=True)
def asking_for_a_link(world):
    return lambda: world.api.post("forgot-password", email=ANN)


@deed("POST /forgot-password", "auth.password.reset_requested ann", delivered=True)
def asking_for_a_code(world):
    prove(phone=PHONE)
    return lambda: world.api.post("forgot-password", phone=PHONE)


@deed("POST /forgot-password", delivered=True)
def asking_for_somebody_unknown(world):
    return lambda: world.api.post("forgot-password", email="nobody@example.com")


@deed("POST /forgot-password", code="SMS_NOT_CONFIGURED")
def asking_for_a_code_that_nobody_can_send(world):
    world.post.can_sms = False
    return lambda: world.api.post("forgot-password", phone=PHONE)


@deed("POST /reset-password", "auth.password.reset ann")
def resetting_by_link(world):
    prove()
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token)


@deed("POST /reset-password", "auth.password.reset ann")
def resetting_by_code(world):
    prove(phone=PHONE)
    code = world.flows.reset_code()
    return lambda: world.flows.reset_by_code(code)


@deed("POST /reset-password", "auth.password.reset somebody", "user.email.verified somebody")
def setting_the_first_password(world):
    world.root.create(email="eve@example.com")
    token = world.post.token("account-made")
    return lambda: world.flows.reset(token, email="eve@example.com")


@deed("POST /reset-password", code="INVALID_PASSWORD")
def resetting_to_a_weak_password(world):
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token, new_password=SHORT)


@deed("POST /reset-password", code="INVALID_TOKEN")
def resetting_with_nonsense(world):
    return lambda: world.flows.reset("A" * 43)


@deed("POST /reset-password", "auth.password.reset_failed ann", code="INVALID_TOKEN")
def resetting_twice(world):
    token = world.flows.reset_token()
    world.flows.reset(token)
    return lambda: world.flows.reset(token)


@deed("POST /reset-password", "auth.password.reset_failed ann", code="TOKEN_EXPIRED")
def resetting_too_late(world):
    token = world.flows.reset_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return lambda: world.flows.reset(token)


CODE_REFUSED = {"code": "INVALID_VERIFICATION_CODE"}


@deed("POST /reset-password", "auth.password.reset_failed ann", code="INVALID_TOKEN")
def resetting_with_anothers_address(world):
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token, email="nobody@example.com")


@deed("POST /reset-password", "auth.password.reset_failed ann", **CODE_REFUSED)
def resetting_by_a_wrong_code(world):
    prove(phone=PHONE)
    code = world.flows.reset_code()
    return lambda: world.flows.reset_by_code(wrong(code))


@deed("POST /reset-password", "auth.password.reset_failed user", **CODE_REFUSED)
def resetting_by_a_code_for_an_unknown_number(world):
    return lambda: world.flows.reset_by_code("123456", phone="+4930123458")


@deed("GET /verify-email", "user.email.verified ann")
def verifying_an_address(world):
    token = world.flows.email_token()
    return lambda: world.flows.click(token)


@deed("GET /verify-email")
def verifying_it_again(world):
    token = world.flows.email_token()
    world.flows.click(token)
    return lambda: world.flows.click(token)


@deed("GET /verify-email", code="INVALID_VERIFICATION_TOKEN")
def verifying_with_nonsense(world):
    return lambda: world.flows.click("A" * 43)


@deed("GET /verify-email", code="VERIFICATION_TOKEN_EXPIRED")
def verifying_too_late(world):
    token = world.flows.email_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return lambda: world.flows.click(token)


def pushing(world, token, decision="confirm"):
    body = {"token": token, "email": ANN, "decision": decision}
    return lambda: world.api.request("POST", "verify-email", body)


@deed("POST /verify-email", "user.email.verified ann")
def confirming_an_address(world):
    return pushing(world, world.flows.email_token())


@deed("POST /verify-email", "security.session.revoked ann", "user.phone.changed ann")
def denying_a_sign_up(world):
    return pushing(world, world.flows.email_token(), "deny")


@deed("POST /verify-email", code="INVALID_VERIFICATION_TOKEN")
def confirming_with_nonsense(world):
    return pushing(world, "A" * 43)


@deed("POST /verify-email", code="VERIFICATION_TOKEN_EXPIRED")
def confirming_too_late(world):
    token = world.flows.email_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return pushing(world, token)


@deed("POST /verify-phone", "user.phone.verified ann")
def verifying_a_number(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(code)


@deed("POST /verify-phone", "auth.code.failed ann", **CODE_REFUSED)
def verifying_it_with_a_wrong_code(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(wrong(code))


@deed("POST /verify-phone", "auth.code.failed user", **CODE_REFUSED)
def verifying_an_unknown_number(world):
    return lambda: world.flows.verify_phone("123456", "+4930123458")


def _without_sms(path):
    def prepare(world):
        world.post.can_sms = False
        return lambda: world.api.post(path, phone=PHONE)

    prepare.__name__ = "asking for what nobody can send"
    return prepare


for prefix in ("send", "resend"):
    EMAIL, SMS = f"{prefix}-verification-email", f"{prefix}-verification-phone"
    silent(f"POST /{EMAIL}", lambda world, path=EMAIL: world.api.post(path, email=ANN))
    silent(f"POST /{SMS}", lambda world, path=SMS: world.api.post(path, phone=PHONE))
    deed(f"POST /{SMS}", code="SMS_NOT_CONFIGURED")(_without_sms(SMS))

silent("POST /is-available", lambda world: world.api.post("is-available", email=ANN))
silent("GET /me", lambda world: world.as_ann("GET", "me"))
silent("GET /.well-known/jwks.json", lambda world: world.api.get(".well-known/jwks.json"))


def notice_of_a_number(world):
    """The token in the mail about a number that somebody changed."""
    prove()
    world.as_ann("PUT", "profile", phone="+4930123499")
    return world.post.token("phone-changed")


def secure(world, token):
    return lambda: world.api.request("POST", "account/secure", {"token": token})


@deed("POST /account/secure", "user.secured ann")
def securing_the_account(world):
    return secure(world, notice_of_a_number(world))


@deed("POST /account/secure", code="INVALID_TOKEN")
def securing_with_a_token_that_is_none(world):
    return secure(world, "A" * 43)


@deed("POST /account/secure", code="TOKEN_EXPIRED")
def securing_too_late(world):
    token = notice_of_a_number(world)
    OneTimeToken.objects.filter(purpose="secure-account").update(expires_at=timezone.now())
    return secure(world, token)


silent("GET /account/secure", lambda world: world.api.get("account/secure?token=x"))
