"""Deeds with mailed and texted secrets, and what the log says of them."""

from __future__ import annotations

from django.utils import timezone

from authservice.core.models import Ticket
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


@deed("POST /reset-password", code="INVALID_TOKEN")
def resetting_twice(world):
    token = world.flows.reset_token()
    world.flows.reset(token)
    return lambda: world.flows.reset(token)


@deed("POST /reset-password", code="TOKEN_EXPIRED")
def resetting_too_late(world):
    token = world.flows.reset_token()
    Ticket.objects.update(expires_at=timezone.now())
    return lambda: world.flows.reset(token)


@deed("POST /reset-password", code="INVALID_VERIFICATION_CODE")
def resetting_by_a_wrong_code(world):
    prove(phone=PHONE)
    code = world.flows.reset_code()
    return lambda: world.flows.reset_by_code(wrong(code))


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
    Ticket.objects.update(expires_at=timezone.now())
    return lambda: world.flows.click(token)


@deed("POST /verify-phone", "user.phone.verified ann")
def verifying_a_number(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(code)


@deed("POST /verify-phone", code="INVALID_VERIFICATION_CODE")
def verifying_it_with_a_wrong_code(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(wrong(code))


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
