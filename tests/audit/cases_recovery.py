"""Requests with one-time tokens and codes, and the audit entries that they write."""

from __future__ import annotations

from django.utils import timezone

from authservice.core.models import OneTimeToken
from tests.audit.world import ANN, case, silent
from tests.support.flows import PHONE, prove, wrong

SHORT = "short1!"


@case("POST /forgot-password", "auth.password.reset_requested ann", delivered=True)
def request_of_a_link(world):
    return lambda: world.api.post("forgot-password", email=ANN)


@case("POST /forgot-password", "auth.password.reset_requested ann", delivered=True)
def request_of_a_code(world):
    prove(phone=PHONE)
    return lambda: world.api.post("forgot-password", phone=PHONE)


@case("POST /forgot-password", delivered=True)
def request_for_unknown_address(world):
    return lambda: world.api.post("forgot-password", email="nobody@example.com")


@case("POST /forgot-password", code="SMS_NOT_CONFIGURED")
def request_of_a_code_without_sms(world):
    world.post.can_sms = False
    return lambda: world.api.post("forgot-password", phone=PHONE)


@case("POST /reset-password", "auth.password.reset ann")
def reset_with_link(world):
    prove()
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token)


@case("POST /reset-password", "auth.password.reset ann")
def reset_with_code(world):
    prove(phone=PHONE)
    code = world.flows.reset_code()
    return lambda: world.flows.reset_by_code(code)


@case("POST /reset-password", "auth.password.reset new_user", "user.email.verified new_user")
def reset_that_sets_the_first_password(world):
    world.root.create(email="eve@example.com")
    token = world.post.token("account-made")
    return lambda: world.flows.reset(token, email="eve@example.com")


@case("POST /reset-password", code="INVALID_PASSWORD")
def reset_to_weak_password(world):
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token, new_password=SHORT)


@case("POST /reset-password", code="INVALID_TOKEN")
def reset_with_invalid_token(world):
    return lambda: world.flows.reset("A" * 43)


@case("POST /reset-password", "auth.password.reset_failed ann", code="INVALID_TOKEN")
def reset_with_used_token(world):
    token = world.flows.reset_token()
    world.flows.reset(token)
    return lambda: world.flows.reset(token)


@case("POST /reset-password", "auth.password.reset_failed ann", code="TOKEN_EXPIRED")
def reset_with_expired_token(world):
    token = world.flows.reset_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return lambda: world.flows.reset(token)


CODE_REFUSED = {"code": "INVALID_VERIFICATION_CODE"}


@case("POST /reset-password", "auth.password.reset_failed ann", code="INVALID_TOKEN")
def reset_with_address_of_another_user(world):
    token = world.flows.reset_token()
    return lambda: world.flows.reset(token, email="nobody@example.com")


@case("POST /reset-password", "auth.password.reset_failed ann", **CODE_REFUSED)
def reset_with_wrong_code(world):
    prove(phone=PHONE)
    code = world.flows.reset_code()
    return lambda: world.flows.reset_by_code(wrong(code))


@case("POST /reset-password", "auth.password.reset_failed user", **CODE_REFUSED)
def reset_with_code_for_unknown_number(world):
    return lambda: world.flows.reset_by_code("123456", phone="+4930123458")


@case("GET /verify-email", "user.email.verified ann")
def verification_of_address(world):
    token = world.flows.email_token()
    return lambda: world.flows.click(token)


@case("GET /verify-email")
def second_verification_of_address(world):
    token = world.flows.email_token()
    world.flows.click(token)
    return lambda: world.flows.click(token)


@case("GET /verify-email", code="INVALID_VERIFICATION_TOKEN")
def verification_with_invalid_token(world):
    return lambda: world.flows.click("A" * 43)


@case("GET /verify-email", code="VERIFICATION_TOKEN_EXPIRED")
def verification_with_expired_token(world):
    token = world.flows.email_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return lambda: world.flows.click(token)


def submit(world, token, decision="confirm"):
    body = {"token": token, "email": ANN, "decision": decision}
    return lambda: world.api.request("POST", "verify-email", body)


@case("POST /verify-email", "user.email.verified ann")
def confirmation_of_address(world):
    return submit(world, world.flows.email_token())


@case("POST /verify-email", "security.session.revoked ann", "user.phone.changed ann")
def denial_of_signup(world):
    return submit(world, world.flows.email_token(), "deny")


@case("POST /verify-email", code="INVALID_VERIFICATION_TOKEN")
def confirmation_with_invalid_token(world):
    return submit(world, "A" * 43)


@case("POST /verify-email", code="VERIFICATION_TOKEN_EXPIRED")
def confirmation_with_expired_token(world):
    token = world.flows.email_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return submit(world, token)


@case("POST /verify-phone", "user.phone.verified ann")
def verification_of_number(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(code)


@case("POST /verify-phone", "auth.code.failed ann", **CODE_REFUSED)
def verification_of_number_with_wrong_code(world):
    code = world.flows.phone_code()
    return lambda: world.flows.verify_phone(wrong(code))


@case("POST /verify-phone", "auth.code.failed user", **CODE_REFUSED)
def verification_of_unknown_number(world):
    return lambda: world.flows.verify_phone("123456", "+4930123458")


def _without_sms(path):
    def prepare(world):
        world.post.can_sms = False
        return lambda: world.api.post(path, phone=PHONE)

    prepare.__name__ = "request without sms"
    return prepare


for prefix in ("send", "resend"):
    EMAIL, SMS = f"{prefix}-verification-email", f"{prefix}-verification-phone"
    silent(f"POST /{EMAIL}", lambda world, path=EMAIL: world.api.post(path, email=ANN))
    silent(f"POST /{SMS}", lambda world, path=SMS: world.api.post(path, phone=PHONE))
    case(f"POST /{SMS}", code="SMS_NOT_CONFIGURED")(_without_sms(SMS))

silent("POST /is-available", lambda world: world.api.post("is-available", email=ANN))
silent("GET /me", lambda world: world.as_ann("GET", "me"))
silent("GET /.well-known/jwks.json", lambda world: world.api.get(".well-known/jwks.json"))


def notice_of_a_number(world):
    """The token in the e-mail that reports a changed phone number."""
    prove()
    world.as_ann("PUT", "profile", phone="+4930123499")
    return world.post.token("phone-changed")


def secure(world, token):
    return lambda: world.api.request("POST", "account/secure", {"token": token})


@case("POST /account/secure", "user.secured ann")
def account_securing(world):
    return secure(world, notice_of_a_number(world))


@case("POST /account/secure", code="INVALID_TOKEN")
def account_securing_with_invalid_token(world):
    return secure(world, "A" * 43)


@case("POST /account/secure", code="TOKEN_EXPIRED")
def account_securing_with_expired_token(world):
    token = notice_of_a_number(world)
    OneTimeToken.objects.filter(purpose="secure-account").update(expires_at=timezone.now())
    return secure(world, token)


silent("GET /account/secure", lambda world: world.api.get("account/secure?token=x"))
