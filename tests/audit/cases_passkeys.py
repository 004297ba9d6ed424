"""Requests to the routes of the passkeys module, and the audit entries that they write."""

from __future__ import annotations

from functools import partial

from authservice.core.models import Session
from authservice.passkeys import keys
from authservice.passkeys.models import Passkey
from tests.audit.world import ANN, case, silent
from tests.passkeys.authenticator import BE, UP, UV
from tests.passkeys.people import Holder, begin_login, finish_login
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.people import deactivate, the_user
from tests.twofactor.people import Person

OPTIONS, ADD, ONE = "POST /passkeys/options", "POST /passkeys", "/passkeys/{passkey_id}"
CHANGE, REMOVE, LOGIN = f"PUT {ONE}", f"DELETE {ONE}", "POST /passkeys/login"
ADDED, REMOVED = "auth.passkey.added ann", "auth.passkey.removed ann"
FACTOR_ON, FACTOR_OFF = "auth.passkey.factor_on ann", "auth.passkey.factor_off ann"
FAILED = "auth.login.failed ann"
NEW, DONE = "security.new_device ann", "auth.login.success ann"
UNKNOWN_ID = "00000000-0000-0000-0000-000000000000"


def ann(world):
    return Holder(world.api, ANN, token=world.token, user_id=world.ann_id)


def holder(world, **wish):
    """Ann with a passkey."""
    person = ann(world)
    person.enrol(**wish)
    return person


def own():
    return f"passkeys/{Passkey.objects.earliest('created_at').pk}"


def change(person, **body):
    return partial(person.put, own(), **body)


def limited(world):
    """Ann with as many passkeys as an account may have."""
    person = holder(world)
    of_ann = Passkey.objects.get()
    for number in range(1, keys.LIMIT):
        text = f"key-{number}"
        of_ann.pk, of_ann.credential_id, of_ann.credential_digest = None, text, keys.digest_of(text)
        of_ann.save(force_insert=True)
    return person


# Adding


silent(OPTIONS, lambda world: ann(world).post("passkeys/options"), "options to add")
silent("GET /passkeys", lambda world: ann(world).get("passkeys"))
silent("GET /passkeys/signals", lambda world: ann(world).get("passkeys/signals"))


@case(OPTIONS, code="PASSKEY_LIMIT")
def options_beyond_the_limit(world):
    return partial(limited(world).post, "passkeys/options")


def begun(world):
    person = ann(world)
    return person, person.options()


def created(person, start, **change):
    return partial(person.add, person.device.create(start["options"], **change), begun=start)


@case(ADD, ADDED)
def addition(world):
    return created(*begun(world))


@case(ADD, ADDED)
def addition_as_the_first_second_factor(world):
    world.log_in()
    act = created(*begun(world))
    return partial(act, second_factor=True)


@case(ADD, code="PASSKEY_INVALID")
def addition_for_another_domain(world):
    return created(*begun(world), rp_id="example.org")


@case(ADD, code="PASSKEY_EXISTS")
def addition_of_an_existing_passkey(world):
    person = holder(world)
    return created(person, person.options(), credential=person.device.credentials[0])


@case(ADD, code="PASSKEY_LIMIT")
def addition_beyond_the_limit(world):
    person, start = begun(world)
    limited(world)
    return created(person, start)


# Changing and removing


@case(CHANGE, "auth.passkey.renamed ann")
def renaming(world):
    return change(holder(world), name="Key")


@case(CHANGE, FACTOR_ON)
def use_as_second_factor(world):
    return change(holder(world), second_factor=True)


@case(CHANGE, FACTOR_OFF)
def end_of_use_as_second_factor(world):
    person = holder(world, second_factor=True)
    person.token = person.log_in().data["access_token"]
    return change(person, second_factor=False)


@case(REMOVE, REMOVED)
def removal(world):
    return partial(holder(world).delete, own())


@case(REMOVE, code="LAST_LOGIN_METHOD")
def removal_of_the_last_way_to_log_in(world):
    person = holder(world)
    user = the_user(ANN)
    user.set_unusable_password()
    user.save()
    person.token = person.log_in().data["access_token"]
    return partial(person.delete, own())


for route, send in {
    CHANGE: lambda person, path: person.put(path, second_factor=True),
    REMOVE: Holder.delete,
}.items():

    def unknown_passkey(world, send=send):
        return partial(send, holder(world), f"passkeys/{UNKNOWN_ID}")

    case(route, code="PASSKEY_NOT_FOUND")(unknown_passkey)


# What needs a fresh proof

for route, prepare in {
    OPTIONS: lambda world: partial(ann(world).post, "passkeys/options"),
    ADD: lambda world: created(*begun(world)),
    CHANGE: lambda world: change(holder(world), second_factor=True),
    REMOVE: removal,
}.items():

    def old_proof(world, prepare=prepare):
        act = prepare(world)
        age_sessions(minutes=16)
        return act

    def session_that_no_method_can_prove(world, prepare=prepare):
        act = prepare(world)
        Passkey.objects.update(verifies=False)
        Person(world.api, ANN, world.token, world.ann_id).enrol()
        # Such as a session that continues one of another package.
        Session.objects.update(levels="", amr="legacy")
        return act

    case(route, code="STEP_UP_REQUIRED")(old_proof)
    case(route, code="STEP_UP_UNAVAILABLE")(session_that_no_method_can_prove)


def only_a_passkey(world, method, path, **body):
    """Ann, whose second factor is a passkey, whose proof takes a step-up."""
    world.configure(CORE={"ALLOW_SELF_DELETE": True})
    holder(world, second_factor=True)
    return partial(world.as_ann, method, path, password=PASSWORD, **body)


for method, path, body in (
    ("DELETE", "me", {}),
    ("POST", "me/delete", {}),
    ("POST", "change-email", {"email": "eve@example.com"}),
    ("PUT", "change-username", {"username": "anna"}),
):

    def passkey_as_second_factor(world, method=method, path=path, body=body):
        return only_a_passkey(world, method, path, **body)

    case(f"{method} /{path}", code="STEP_UP_REQUIRED")(passkey_as_second_factor)


# Step-up and the second step of a login by passkey


@case("POST /step-up/verify", "auth.step_up ann")
def step_up_by_passkey(world):
    person = holder(world)
    asked = world.as_ann("POST", "step-up", acr="phr").data["challenges"][0]["data"]
    credential = person.device.get(asked["passkey"])
    token = asked["temp_token"]
    return partial(person.post, "step-up/verify", temp_token=token, credential=credential)


@case("POST /login", "auth.login.challenged ann")
def password_of_user_with_a_passkey_as_second_factor(world):
    holder(world, second_factor=True)
    return world.log_in


# Login


silent("POST /passkeys/login/options", lambda world: world.api.post("passkeys/login/options"))


def log_in(world, **change):
    person = holder(world)
    start = begin_login(world.api)
    return partial(finish_login, world.api, start, person.sign(start, **change))


@case(LOGIN, NEW, DONE)
def login_by_passkey(world):
    return log_in(world)


@case(LOGIN, FAILED, code="PASSKEY_INVALID")
def login_by_passkey_that_does_not_verify_its_user(world):
    return log_in(world, flags=UP)


@case(LOGIN, "security.passkey.cloned ann", FAILED, code="PASSKEY_INVALID")
def login_by_a_copy_of_a_key(world):
    act = log_in(world)
    Passkey.objects.update(counter=99)
    return act


@case(LOGIN, "security.passkey.counter ann", NEW, DONE)
def login_by_passkey_of_several_devices_whose_counter_fell_back(world):
    person = ann(world)
    person.device.flags = UP | UV | BE
    person.enrol()
    Passkey.objects.update(counter=99)
    start = begin_login(world.api)
    return partial(finish_login, world.api, start, person.sign(start))


@case(LOGIN, code="PASSKEY_UNKNOWN")
def login_by_removed_passkey(world):
    act = log_in(world)
    Passkey.objects.all().delete()
    return act


@case(LOGIN, FAILED, code="EMAIL_NOT_VERIFIED")
def login_by_passkey_with_unverified_address(world):
    act = log_in(world)
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    return act


@case(LOGIN, FAILED, code="PHONE_NOT_VERIFIED")
def login_by_passkey_with_unverified_number(world):
    act = log_in(world)
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return act


@case(LOGIN, FAILED, code="USER_NOT_ACTIVE")
def login_by_passkey_of_suspended_user(world):
    act = log_in(world)
    deactivate(ANN)
    return act


# Setting up an app beside a passkey that is a second factor


@case("POST /2fa/setup", code="STEP_UP_REQUIRED")
def app_beside_a_passkey(world):
    return partial(holder(world, second_factor=True).post, "2fa/setup")


@case("POST /2fa/setup", code="STEP_UP_UNAVAILABLE")
def app_beside_a_key_without_a_first_factor(world):
    return partial(without_first_factor(world).post, "2fa/setup")


@case("POST /2fa/verify", code="STEP_UP_REQUIRED")
def first_code_beside_a_passkey(world):
    return partial(holder(world, second_factor=True).post, "2fa/verify", code="123456")


@case("POST /2fa/verify", code="STEP_UP_UNAVAILABLE")
def first_code_beside_a_key_without_a_first_factor(world):
    return partial(without_first_factor(world).post, "2fa/verify", code="123456")


def without_first_factor(world):
    """Ann with a key that is only a second factor, in a session continued from another package."""
    person = holder(world, second_factor=True)
    Passkey.objects.update(verifies=False)
    Session.objects.update(levels="", amr="legacy")
    return person
