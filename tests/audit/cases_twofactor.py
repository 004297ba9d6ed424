"""Deeds at the routes of the two-factor module, and what the log says of them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.utils import timezone

from authservice.core.credentials.attempt_counter import PASSWORD as PASSWORD_BUDGET
from authservice.core.models import Session
from tests.audit.world import ANN, deed, silent
from tests.client import PASSWORD
from tests.twofactor.people import Person, app_of

SETUP, VERIFY, DISABLE = "POST /2fa/setup", "POST /2fa/verify", "POST /2fa/disable"
RENEW, LOGIN, ENROL = "POST /2fa/backup-codes", "POST /2fa/verify-login", "POST /2fa/setup-login"
FAILED, THROTTLED = "auth.2fa.failed ann", "security.account.throttled ann"
VERIFIED, ENABLED = "auth.2fa.verified ann", "auth.2fa.enabled ann"
NEW, DONE = "security.new_device ann", "auth.login.success ann"
BEFORE = "123456"  # a code before there is anything that could have one


def ann(world):
    return Person(world.api, ANN, world.token, world.ann_id)


def began(world):
    person = ann(world)
    person.set_up()
    return person


def enrolled(world):
    """Ann with a factor; the next code of her app is one step ahead."""
    return ann(world).enrol()


def post(person, path, code):
    return partial(person.post, path.removeprefix("POST /"), code=code)


@deed("POST /login", "auth.login.challenged ann")
def a_password_where_a_code_is_asked_for(world):
    enrolled(world)
    return world.log_in


@deed("POST /login", "auth.login.challenged ann")
def a_password_where_a_factor_must_be_set_up(world):
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    return world.log_in


silent(SETUP, lambda world: ann(world).post("2fa/setup"), "setting up")
silent("GET /2fa/status", lambda world: ann(world).get("2fa/status"))


@deed(SETUP, code="TWO_FACTOR_ALREADY_ENABLED")
def setting_up_once_more(world):
    return partial(enrolled(world).post, "2fa/setup")


def set_up(world, password=""):
    return partial(ann(world).post, "2fa/setup", password=password)


@deed(SETUP, "auth.reauthentication.failed ann", code="INVALID_CREDENTIALS")
def setting_up_with_a_wrong_password(world):
    return set_up(world, "wrong")


@deed(SETUP, THROTTLED, code="TOO_MANY_ATTEMPTS")
def guessing_the_password_with_a_set_up(world):
    for _ in range(PASSWORD_BUDGET.limit):
        set_up(world, "wrong")()
    return set_up(world, PASSWORD)


@deed(SETUP, code="REAUTHENTICATION_REQUIRED")
def setting_up_without_a_recent_proof(world):
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    Session.objects.update(auth_time=timezone.now() - timedelta(minutes=11))
    return set_up(world)


# Enabling, disabling, renewing


@deed(VERIFY, ENABLED)
def enabling(world):
    person = began(world)
    return post(person, VERIFY, person.code())


@deed(DISABLE, "auth.2fa.disabled ann")
def disabling(world):
    person = enrolled(world)
    return post(person, DISABLE, person.code(1))


@deed(RENEW, "auth.2fa.backup_regenerated ann")
def renewing_backup_codes(world):
    person = enrolled(world)
    return post(person, RENEW, person.code(1))


@deed(VERIFY, code="TWO_FACTOR_ALREADY_ENABLED")
def enabling_twice(world):
    person = enrolled(world)
    return post(person, VERIFY, person.code(1))


for route, prepare in ((VERIFY, began), (DISABLE, enrolled), (RENEW, enrolled)):

    def a_wrong_code(world, route=route, prepare=prepare):
        person = prepare(world)
        return post(person, route, person.wrong_code())

    def one_wrong_code_too_many(world, route=route, prepare=prepare):
        person = prepare(world)
        guess = post(person, route, person.wrong_code())
        for _ in range(10):
            guess()
        return guess

    def a_code_where_there_is_no_factor(world, route=route):
        return post(ann(world), route, BEFORE)

    deed(route, FAILED, code="TWO_FACTOR_INVALID")(a_wrong_code)
    deed(route, THROTTLED, code="TOO_MANY_ATTEMPTS")(one_wrong_code_too_many)
    deed(route, code="TWO_FACTOR_NOT_ENABLED")(a_code_where_there_is_no_factor)


# The second step


def step(world, code_of):
    person = enrolled(world)
    return partial(person.verify_login, code_of(person), person.temp_token())


def next_code(person):
    return person.code(1)


@deed(LOGIN, VERIFIED, NEW, DONE)
def the_second_step(world):
    return step(world, next_code)


@deed(LOGIN, "auth.2fa.backup_used ann", VERIFIED, NEW, DONE)
def the_second_step_with_a_backup_code(world):
    return step(world, lambda person: person.backup_codes[0])


@deed(LOGIN, FAILED, code="TWO_FACTOR_INVALID")
def the_second_step_with_a_wrong_code(world):
    return step(world, Person.wrong_code)


@deed(LOGIN, code="TOO_MANY_ATTEMPTS")
def one_try_too_many_for_the_temp_token(world):
    guess = step(world, Person.wrong_code)
    for _ in range(5):
        guess()
    return guess


@deed(LOGIN, THROTTLED, code="TOO_MANY_ATTEMPTS")
def one_try_too_many_for_the_account(world):
    person = enrolled(world)
    for _ in range(10):
        person.verify_login(person.wrong_code())
    return partial(person.verify_login, person.wrong_code(), person.temp_token())


@deed(LOGIN, code="INVALID_TOKEN")
def a_temp_token_that_is_none(world):
    return partial(ann(world).verify_login, BEFORE, "A" * 43)


@deed(LOGIN, FAILED, code="INVALID_TOKEN")
def a_temp_token_twice(world):
    act = step(world, next_code)
    act()
    return act


@deed(LOGIN, "auth.login.failed ann", code="EMAIL_NOT_VERIFIED")
def the_second_step_with_an_address_to_verify(world):
    act = step(world, next_code)
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return act


@deed(LOGIN, "auth.login.failed ann", code="PHONE_NOT_VERIFIED")
def the_second_step_with_a_number_to_verify(world):
    act = step(world, next_code)
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return act


# Where it must be set up to sign in


def challenged(world):
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    return ann(world), ann(world).temp_token()


@deed(ENROL)
def setting_up_to_sign_in(world):
    person, token = challenged(world)
    return partial(person.api.post, "2fa/setup-login", temp_token=token)


@deed(ENROL, code="INVALID_TOKEN")
def setting_up_by_a_temp_token_that_is_none(world):
    return partial(world.api.post, "2fa/setup-login", temp_token="A" * 43)


@deed(ENROL, code="TWO_FACTOR_ALREADY_ENABLED")
def setting_up_to_sign_in_after_the_owner_did(world):
    person, token = challenged(world)
    enrolled(world)
    return partial(person.api.post, "2fa/setup-login", temp_token=token)


@deed(LOGIN, ENABLED, NEW, DONE)
def enabling_to_sign_in(world):
    person, token = challenged(world)
    made = person.api.post("2fa/setup-login", temp_token=token).data
    person.app = app_of(made["qr_url"])
    return partial(person.verify_login, person.code(), token)


@deed(LOGIN, code="TWO_FACTOR_NOT_ENABLED")
def a_code_before_the_set_up_it_is_for(world):
    person, token = challenged(world)
    return partial(person.verify_login, BEFORE, token)
