"""Requests to the routes of the two-factor module, and the audit entries that they write."""

from __future__ import annotations

from functools import partial

from authservice.core.credentials.attempt_counter import PASSWORD as PASSWORD_BUDGET
from tests.audit.world import ANN, WRONG, case, silent
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.twofactor.people import Person, app_of

SETUP, VERIFY, DISABLE = "POST /2fa/setup", "POST /2fa/verify", "POST /2fa/disable"
RENEW, LOGIN, ENROL = "POST /2fa/backup-codes", "POST /2fa/verify-login", "POST /2fa/setup-login"
FAILED, THROTTLED = "auth.2fa.failed ann", "security.account.throttled ann"
VERIFIED, ENABLED = "auth.2fa.verified ann", "auth.2fa.enabled ann"
NEW, DONE = "security.new_device ann", "auth.login.success ann"
BEFORE = "123456"  # a code sent while no TOTP secret exists


def ann(world):
    return Person(world.api, ANN, world.token, world.ann_id)


def pending(world):
    person = ann(world)
    person.set_up()
    return person


def enrolled(world):
    """Ann with an enabled factor; the next code of the app is one time step ahead."""
    return ann(world).enrol()


def post(person, path, code):
    return partial(person.post, path.removeprefix("POST /"), code=code)


@case("POST /login", "auth.login.challenged ann")
def password_of_user_with_factor(world):
    enrolled(world)
    return world.log_in


@case("POST /login", "auth.login.challenged ann")
def password_where_factor_is_required(world):
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    return world.log_in


silent(SETUP, lambda world: ann(world).post("2fa/setup"), "setup")
silent("GET /2fa/status", lambda world: ann(world).get("2fa/status"))


@case(SETUP, code="TWO_FACTOR_ALREADY_ENABLED")
def setup_of_enabled_factor(world):
    return partial(enrolled(world).post, "2fa/setup")


def set_up(world, password=""):
    return partial(ann(world).post, "2fa/setup", password=password)


@case(SETUP, "auth.reauthentication.failed ann", code="INVALID_CREDENTIALS")
def setup_with_wrong_password(world):
    return set_up(world, WRONG)


@case(SETUP, THROTTLED, code="TOO_MANY_ATTEMPTS")
def setup_after_too_many_attempts(world):
    for _ in range(PASSWORD_BUDGET.limit):
        set_up(world, WRONG)()
    return set_up(world, PASSWORD)


@case(SETUP, code="REAUTHENTICATION_REQUIRED")
def setup_without_recent_proof(world):
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions()
    return set_up(world)


# Enabling and disabling a factor, new backup codes


@case(VERIFY, ENABLED)
def enable(world):
    person = pending(world)
    return post(person, VERIFY, person.code())


@case(DISABLE, "auth.2fa.disabled ann")
def disable(world):
    person = enrolled(world)
    return post(person, DISABLE, person.code(1))


@case(RENEW, "auth.2fa.backup_regenerated ann")
def new_backup_codes(world):
    person = enrolled(world)
    return post(person, RENEW, person.code(1))


@case(VERIFY, code="TWO_FACTOR_ALREADY_ENABLED")
def enable_of_enabled_factor(world):
    person = enrolled(world)
    return post(person, VERIFY, person.code(1))


for route, prepare in ((VERIFY, pending), (DISABLE, enrolled), (RENEW, enrolled)):

    def wrong_code(world, route=route, prepare=prepare):
        person = prepare(world)
        return post(person, route, person.wrong_code())

    def wrong_codes_beyond_the_limit(world, route=route, prepare=prepare):
        person = prepare(world)
        attempt = post(person, route, person.wrong_code())
        for _ in range(10):
            attempt()
        return attempt

    def code_without_factor(world, route=route):
        return post(ann(world), route, BEFORE)

    case(route, FAILED, code="TWO_FACTOR_INVALID")(wrong_code)
    case(route, THROTTLED, code="TOO_MANY_ATTEMPTS")(wrong_codes_beyond_the_limit)
    case(route, code="TWO_FACTOR_NOT_ENABLED")(code_without_factor)


# The second step


def step(world, code_of):
    person = enrolled(world)
    return partial(person.verify_login, code_of(person), person.temp_token())


def next_code(person):
    return person.code(1)


@case(LOGIN, VERIFIED, NEW, DONE)
def second_step(world):
    return step(world, next_code)


@case(LOGIN, "auth.2fa.backup_used ann", VERIFIED, NEW, DONE)
def second_step_with_backup_code(world):
    return step(world, lambda person: person.backup_codes[0])


@case(LOGIN, FAILED, code="TWO_FACTOR_INVALID")
def second_step_with_wrong_code(world):
    return step(world, Person.wrong_code)


@case(LOGIN, code="TOO_MANY_ATTEMPTS")
def attempts_beyond_the_limit_of_the_temp_token(world):
    attempt = step(world, Person.wrong_code)
    for _ in range(5):
        attempt()
    return attempt


@case(LOGIN, THROTTLED, code="TOO_MANY_ATTEMPTS")
def attempts_beyond_the_limit_of_the_account(world):
    person = enrolled(world)
    for _ in range(10):
        person.verify_login(person.wrong_code())
    return partial(person.verify_login, person.wrong_code(), person.temp_token())


@case(LOGIN, code="INVALID_TOKEN")
def invalid_temp_token(world):
    return partial(ann(world).verify_login, BEFORE, "A" * 43)


@case(LOGIN, FAILED, code="INVALID_TOKEN")
def reused_temp_token(world):
    act = step(world, next_code)
    act()
    return act


@case(LOGIN, "auth.login.failed ann", code="EMAIL_NOT_VERIFIED")
def second_step_with_unverified_address(world):
    act = step(world, next_code)
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return act


@case(LOGIN, "auth.login.failed ann", code="PHONE_NOT_VERIFIED")
def second_step_with_unverified_number(world):
    act = step(world, next_code)
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return act


# Setup during a login if a factor is required


def challenged(world):
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})
    return ann(world), ann(world).temp_token()


@case(ENROL)
def setup_during_login(world):
    person, token = challenged(world)
    return partial(person.api.post, "2fa/setup-login", temp_token=token)


@case(ENROL, code="INVALID_TOKEN")
def setup_during_login_with_invalid_temp_token(world):
    return partial(world.api.post, "2fa/setup-login", temp_token="A" * 43)


@case(ENROL, code="TWO_FACTOR_ALREADY_ENABLED")
def setup_during_login_after_owner_enabled_factor(world):
    person, token = challenged(world)
    enrolled(world)
    return partial(person.api.post, "2fa/setup-login", temp_token=token)


@case(LOGIN, ENABLED, NEW, DONE)
def enable_during_login(world):
    person, token = challenged(world)
    made = person.api.post("2fa/setup-login", temp_token=token).data
    person.app = app_of(made["qr_url"])
    return partial(person.verify_login, person.code(), token)


@case(LOGIN, code="TWO_FACTOR_NOT_ENABLED")
def code_before_setup(world):
    person, token = challenged(world)
    return partial(person.verify_login, BEFORE, token)
