"""Deeds at the routes that are always there, and what the log says of them."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Session
from tests.audit.world import ANN, deed
from tests.client import PASSWORD
from tests.recovery.flows import NEW, OTHER_PHONE, PHONE, deactivate, prove

CAM = "cam@example.com"
SHORT = "short1!"


def sign_up(world, email=CAM, password=PASSWORD, **more):
    return lambda: world.api.post("signup", email=email, password=password, **more)


@deed("POST /signup", "auth.signup somebody")
def signing_up(world):
    return sign_up(world)


@deed("POST /signup", "auth.signup somebody")
def signing_up_where_the_address_is_verified_first(world):
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return sign_up(world)


@deed("POST /signup", code="USER_ALREADY_EXISTS")
def signing_up_with_a_taken_address(world):
    return sign_up(world, ANN)


@deed("POST /signup", code="USERNAME_ALREADY_EXISTS")
def signing_up_with_a_taken_name(world):
    return sign_up(world, username="ann")


@deed("POST /signup", code="PHONE_ALREADY_IN_USE")
def signing_up_with_a_taken_number(world):
    return sign_up(world, phone_number=PHONE)


@deed("POST /signup", code="INVALID_PASSWORD")
def signing_up_with_a_weak_password(world):
    return sign_up(world, password=SHORT)


@deed("POST /signup", code="SIGNUP_DISABLED")
def signing_up_where_nobody_may(world):
    world.configure(CORE={"ALLOW_SIGNUP": False})
    return sign_up(world)


@deed("POST /login", "security.new_device ann", "auth.login.success ann")
def signing_in_on_a_new_device(world):
    return world.log_in


@deed("POST /login", "auth.login.success ann")
def signing_in_on_a_known_device(world):
    device = world.log_in().headers["X-Device-Token"]
    return lambda: world.log_in(headers={"X-Device-Token": device})


@deed("POST /login", "auth.login.failed ann", code="INVALID_CREDENTIALS")
def a_wrong_password(world):
    return lambda: world.log_in(password="wrong")


@deed("POST /login", "auth.login.failed user", code="INVALID_CREDENTIALS")
def an_unknown_address(world):
    return lambda: world.log_in("nobody@example.com")


@deed("POST /login", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def too_many_guesses(world):
    for _ in range(BUDGET.limit):
        world.log_in(password="wrong")
    return world.log_in


@deed("POST /login", "auth.login.failed ann", code="USER_NOT_ACTIVE")
def signing_in_while_suspended(world):
    deactivate()
    return world.log_in


@deed("POST /login", "auth.login.failed ann", code="EMAIL_NOT_VERIFIED")
def signing_in_with_an_address_to_verify(world):
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return world.log_in


@deed("POST /login", "auth.login.failed ann", code="PHONE_NOT_VERIFIED")
def signing_in_with_a_number_to_verify(world):
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return world.log_in


@deed("POST /logout", "auth.logout ann")
def signing_out(world):
    return lambda: world.as_ann("POST", "logout")


@deed("POST /refresh", "auth.token.refreshed ann")
def refreshing_where_the_host_keeps_it(world):
    world.configure(AUDIT={"EXCLUDE": []})
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@deed("POST /refresh")
def refreshing(world):
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@deed("POST /refresh", "auth.token.reuse_detected ann", code="INVALID_REFRESH_TOKEN")
def refreshing_with_a_stolen_token(world):
    world.configure(REUSE_LEEWAY=0)
    world.api.post("refresh", refresh_token=world.ann["refresh_token"])
    Session.objects.update(refreshed_at=timezone.now() - timedelta(minutes=1))
    return lambda: world.api.post("refresh", refresh_token=world.ann["refresh_token"])


@deed("POST /refresh", code="INVALID_REFRESH_TOKEN")
def refreshing_with_nonsense(world):
    return lambda: world.api.post("refresh", refresh_token="nonsense")


@deed("PUT /profile", "user.profile.updated ann")
def changing_ones_name(world):
    return lambda: world.as_ann("PUT", "profile", name="Ann Cee")


@deed("PUT /profile", "user.profile.updated ann", "user.phone.changed ann")
def changing_ones_number(world):
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE)


@deed("PUT /profile", "user.profile.updated ann", "user.avatar.updated ann")
def changing_ones_avatar(world):
    return lambda: world.as_ann("PUT", "profile", avatar="https://example.com/a.png")


@deed("PUT /profile")
def changing_nothing(world):
    return lambda: world.as_ann("PUT", "profile")


@deed("PUT /profile", code="PHONE_ALREADY_IN_USE")
def taking_anothers_number(world):
    world.api.sign_up(CAM, phone_number=OTHER_PHONE)
    prove(CAM, OTHER_PHONE)
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE)


def change_password(world, old=PASSWORD, new=NEW):
    return lambda: world.as_ann("PUT", "change-password", old_password=old, new_password=new)


@deed("PUT /change-password", "auth.password.changed ann")
def changing_ones_password(world):
    return change_password(world)


@deed("PUT /change-password", "auth.password.change_failed ann", code="INVALID_CREDENTIALS")
def changing_it_with_a_wrong_one(world):
    return change_password(world, old="wrong")


@deed("PUT /change-password", code="INVALID_PASSWORD")
def changing_it_to_a_weak_one(world):
    return change_password(world, new=SHORT)


@deed("PUT /change-password", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def guessing_the_old_password(world):
    for _ in range(BUDGET.limit):
        change_password(world, old="wrong")()
    return change_password(world)


def set_number(world, password=""):
    body = {"phone": OTHER_PHONE, **({"password": password} if password else {})}
    return lambda: world.as_ann("PUT", "profile", **body)


@deed("PUT /profile", "auth.reauthentication.failed ann", code="INVALID_CREDENTIALS")
def changing_ones_number_with_a_wrong_password(world):
    return set_number(world, "wrong")


@deed("PUT /profile", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def guessing_the_password_with_a_number(world):
    for _ in range(BUDGET.limit):
        set_number(world, "wrong")()
    return set_number(world, PASSWORD)


@deed("PUT /profile", code="REAUTHENTICATION_REQUIRED")
def changing_ones_number_without_a_recent_proof(world):
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    Session.objects.update(auth_time=timezone.now() - timedelta(minutes=11))
    return set_number(world)
