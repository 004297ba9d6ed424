"""Requests to the routes of core, and the audit entries that they write."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Session
from tests.audit.world import ANN, WRONG, case
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import NEW, OTHER_PHONE, PHONE, deactivate, prove

CAM = "cam@example.com"
SHORT = "short1!"
LONGER = {
    "NAME": "authservice.validators.MinimumLengthWithoutFactor",
    "OPTIONS": {"min_length": 40},
}


def sign_up(world, email=CAM, password=PASSWORD, **more):
    return lambda: world.api.post("signup", email=email, password=password, **more)


@case("POST /signup", "auth.signup new_user")
def signup(world):
    return sign_up(world)


@case("POST /signup", "auth.signup new_user")
def signup_where_address_must_be_verified(world):
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return sign_up(world)


@case("POST /signup", code="USER_ALREADY_EXISTS")
def signup_with_taken_address(world):
    return sign_up(world, ANN)


@case("POST /signup", code="USERNAME_ALREADY_EXISTS")
def signup_with_taken_username(world):
    return sign_up(world, username="ann")


@case("POST /signup", code="PHONE_ALREADY_IN_USE")
def signup_with_taken_number(world):
    prove(ANN, PHONE)
    return sign_up(world, phone_number=PHONE)


@case("POST /signup", code="INVALID_PASSWORD")
def signup_with_weak_password(world):
    return sign_up(world, password=SHORT)


@case("POST /signup", code="SIGNUP_DISABLED")
def signup_while_disabled(world):
    world.configure(CORE={"ALLOW_SIGNUP": False})
    return sign_up(world)


@case("POST /login", "security.new_device ann", "auth.login.success ann")
def login_on_new_device(world):
    return world.log_in


@case("POST /login", "auth.login.success ann")
def login_on_known_device(world):
    device = world.log_in().headers["X-Device-Token"]
    return lambda: world.log_in(headers={"X-Device-Token": device})


@case("POST /login", "auth.login.failed ann", code="INVALID_CREDENTIALS")
def login_with_wrong_password(world):
    return lambda: world.log_in(password=WRONG)


@case("POST /login", "auth.login.failed user", code="INVALID_CREDENTIALS")
def login_with_unknown_address(world):
    return lambda: world.log_in("nobody@example.com")


@case("POST /login", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def login_after_too_many_attempts(world):
    for _ in range(BUDGET.limit):
        world.log_in(password=WRONG)
    return world.log_in


@case("POST /login", "auth.login.failed ann", code="USER_NOT_ACTIVE")
def login_of_suspended_user(world):
    deactivate()
    return world.log_in


@case("POST /login", "auth.login.failed ann", code="EMAIL_NOT_VERIFIED")
def login_with_unverified_address(world):
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return world.log_in


@case("POST /login", "auth.login.failed ann", code="PHONE_NOT_VERIFIED")
def login_with_unverified_number(world):
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return world.log_in


@case(
    "POST /login", "auth.password.unsafe ann", "security.new_device ann", "auth.login.success ann"
)
def login_with_a_password_that_is_too_short_by_now(world):
    world.validate(LONGER)
    return world.log_in


@case(
    "POST /login",
    *("auth.password.unsafe ann", "auth.login.failed ann"),
    code="PASSWORD_CHANGE_REQUIRED",
)
def login_with_a_password_that_must_be_changed(world):
    world.validate(LONGER)
    world.configure(CORE={"PASSWORD_RECHECK": "change"})
    return world.log_in


@case("POST /logout", "auth.logout ann")
def logout(world):
    return lambda: world.as_ann("POST", "logout")


@case("POST /refresh", "auth.token.refreshed ann")
def refresh_where_host_records_it(world):
    world.configure(AUDIT={"EXCLUDE": []})
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@case("POST /refresh")
def refresh(world):
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@case("POST /refresh", "auth.token.reuse_detected ann", code="INVALID_REFRESH_TOKEN")
def refresh_with_reused_token(world):
    world.configure(REUSE_LEEWAY=0)
    world.api.post("refresh", refresh_token=world.ann["refresh_token"])
    Session.objects.update(refreshed_at=timezone.now() - timedelta(minutes=1))
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@case("POST /refresh", code="INVALID_REFRESH_TOKEN")
def refresh_with_invalid_token(world):
    return lambda: world.api.post("refresh", refresh_token="nonsense")


@case("PUT /profile", "user.profile.updated ann")
def name_change(world):
    return lambda: world.as_ann("PUT", "profile", name="Ann Cee")


@case("PUT /profile", "user.profile.updated ann", "user.phone.changed ann")
def number_change(world):
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE)


@case("PUT /profile", "user.profile.updated ann", "user.avatar.updated ann")
def avatar_change(world):
    return lambda: world.as_ann("PUT", "profile", avatar="https://example.com/a.png")


@case("PUT /profile")
def profile_update_without_change(world):
    return lambda: world.as_ann("PUT", "profile")


@case("PUT /profile", code="PHONE_ALREADY_IN_USE")
def number_change_to_taken_number(world):
    world.api.sign_up(CAM, phone_number=OTHER_PHONE)
    prove(CAM, OTHER_PHONE)
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE)


def change_password(world, old=PASSWORD, new=NEW):
    return lambda: world.as_ann("PUT", "change-password", old_password=old, new_password=new)


@case("PUT /change-password", "auth.password.changed ann")
def password_change(world):
    return change_password(world)


@case("PUT /change-password", "auth.password.change_failed ann", code="INVALID_CREDENTIALS")
def password_change_with_wrong_password(world):
    return change_password(world, old=WRONG)


@case("PUT /change-password", code="INVALID_PASSWORD")
def password_change_to_weak_password(world):
    return change_password(world, new=SHORT)


@case("PUT /change-password", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def password_change_after_too_many_attempts(world):
    for _ in range(BUDGET.limit):
        change_password(world, old=WRONG)()
    return change_password(world)


def set_number(world, password=""):
    body = {"phone": OTHER_PHONE, **({"password": password} if password else {})}
    return lambda: world.as_ann("PUT", "profile", **body)


@case("PUT /profile", "auth.reauthentication.failed ann", code="INVALID_CREDENTIALS")
def number_change_with_wrong_password(world):
    return set_number(world, WRONG)


@case("PUT /profile", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def number_change_after_too_many_attempts(world):
    for _ in range(BUDGET.limit):
        set_number(world, WRONG)()
    return set_number(world, PASSWORD)


@case("PUT /profile", code="REAUTHENTICATION_REQUIRED")
def number_change_without_recent_proof(world):
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions()
    return set_number(world)
