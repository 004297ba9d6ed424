"""Requests of users who change their own account, and the audit entries that they write."""

from __future__ import annotations

from django.utils import timezone

from authservice.core.credentials import one_time
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken
from authservice.core.own_account import deletion
from authservice.core.users import lookup
from tests.admin_api.people import promote
from tests.audit.world import ANN, WRONG, case, silent
from tests.core.own_account.owner import CONFIRM, EVE, confirm, open_link
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import OTHER_PHONE, prove
from tests.twofactor.people import Person

BEN = "ben@example.com"
FAILED = "auth.reauthentication.failed ann"


@case("PATCH /profile", "user.profile.updated ann", "user.phone.changed ann")
def change_of_number_by_patch(world):
    return lambda: world.as_ann("PATCH", "profile", phone=OTHER_PHONE)


@case("PATCH /profile", code="PHONE_ALREADY_IN_USE")
def change_by_patch_to_taken_number(world):
    world.api.sign_up(BEN, phone_number=OTHER_PHONE)
    prove(BEN, OTHER_PHONE)
    return lambda: world.as_ann("PATCH", "profile", phone=OTHER_PHONE)


def patch_number(world, password=PASSWORD):
    return lambda: world.as_ann("PATCH", "profile", phone=OTHER_PHONE, password=password)


@case("PATCH /profile", FAILED, code="INVALID_CREDENTIALS")
def change_by_patch_with_wrong_password(world):
    return patch_number(world, WRONG)


@case("PATCH /profile", "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def change_by_patch_after_too_many_attempts(world):
    for _ in range(BUDGET.limit):
        patch_number(world, WRONG)()
    return patch_number(world)


@case("PATCH /profile", code="REAUTHENTICATION_REQUIRED")
def change_by_patch_without_recent_proof(world):
    world.configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions()
    return patch_number(world, "")


@case("PATCH /profile", code="SERVICE_UNAVAILABLE")
def change_by_patch_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    return patch_number(world)


@case("GET /me/export", "user.exported ann")
def export_of_own_data(world):
    return lambda: world.as_ann("GET", "me/export")


@case("GET /me/export", code="STEP_UP_REQUIRED")
def export_without_recent_proof(world):
    age_sessions()
    return lambda: world.as_ann("GET", "me/export")


def with_proof(method, path, core=None, **fields):
    """The refusals of a route that requires a proof of the owner; `fields` are the rest of a valid
    body, and `core` are settings that it needs."""
    route = f"{method} /{path}"

    def send(world, **proof):
        if core:
            world.configure(CORE=core)
        return lambda: world.as_ann(method, path, **{"password": PASSWORD, **fields, **proof})

    def wrong_password(world):
        return send(world, password=WRONG)

    def no_password(world):
        return send(world, password="")

    def wrong_code(world):
        enrolled(world)
        return send(world, code="no code")

    def too_many_attempts(world):
        for _ in range(BUDGET.limit):
            send(world, password=WRONG)()
        return send(world)

    def busy(world):
        answer = send(world)
        world.occupy_hash_slots(**(core or {}))
        return answer

    case(route, FAILED, code="INVALID_CREDENTIALS")(wrong_password)
    case(route, code="REAUTHENTICATION_REQUIRED")(no_password)
    case(route, "auth.2fa.failed ann", FAILED, code="TWO_FACTOR_INVALID")(wrong_code)
    case(route, "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")(too_many_attempts)
    case(route, code="SERVICE_UNAVAILABLE")(busy)
    return send


def enrolled(world):
    return Person(world.api, token=world.token, user_id=world.ann_id).enrol()


rename = with_proof("PUT", "change-username", username="anna")
case("PUT /change-username", "user.username.changed ann")(rename)


@case(
    "PUT /change-username",
    "auth.2fa.backup_used ann",
    "auth.2fa.verified ann",
    "user.username.changed ann",
)
def change_of_username_with_a_backup_code(world):
    return rename(world, code=enrolled(world).backup_codes[0])


@case("PUT /change-username", code="USERNAME_ALREADY_EXISTS")
def change_to_taken_username(world):
    world.api.sign_up(BEN, username="benjamin")
    return rename(world, username="benjamin")


silent("PUT /change-username", lambda world: rename(world, username="ann")(), "to the same")


ask = with_proof("POST", "change-email", email=EVE)
silent("POST /change-email", lambda world: ask(world)())


@case("POST /change-email", "user.email.changed ann")
def change_of_the_spelling_of_an_address(world):
    return ask(world, email="Ann@Example.com")


@case("POST /change-email", code="USER_ALREADY_EXISTS")
def request_of_taken_address(world):
    world.api.sign_up(BEN)
    return ask(world, email=BEN)


@case("POST /change-email", code="EMAIL_NOT_CONFIGURED")
def request_without_mail(world):
    world.disable_messenger()
    return ask(world)


def link_to_new_address(world):
    ask(world)()
    return world.post.token(kinds.CHANGE_EMAIL)


def expired_link(world):
    token = link_to_new_address(world)
    OneTimeToken.objects.update(expires_at=timezone.now())
    return token


@case("GET /change-email/confirm")
def opened_link_to_new_address(world):
    token = link_to_new_address(world)
    return lambda: open_link(world.api, token)


@case("GET /change-email/confirm", "user.email.changed ann")
def link_to_new_address_without_page(world):
    world.configure(CORE={"VERIFY_CONFIRM": "off"})
    token = link_to_new_address(world)
    return lambda: open_link(world.api, token)


@case("POST /change-email/confirm", "user.email.changed ann")
def confirmed_link_to_new_address(world):
    token = link_to_new_address(world)
    return lambda: confirm(world.api, token)


@case("POST /change-email/confirm")
def second_click_on_link_to_new_address(world):
    token = link_to_new_address(world)
    confirm(world.api, token)
    return lambda: confirm(world.api, token)


for method, follow in {"GET": open_link, "POST": confirm}.items():
    route = f"{method} /{CONFIRM}"

    def unknown_link_to_new_address(world, follow=follow):
        return lambda: follow(world.api, "A" * 43)

    def expired_link_to_new_address(world, follow=follow):
        token = expired_link(world)
        return lambda: follow(world.api, token)

    case(route, code="INVALID_VERIFICATION_TOKEN")(unknown_link_to_new_address)
    case(route, code="VERIFICATION_TOKEN_EXPIRED")(expired_link_to_new_address)


DISABLED = "SELF_DELETE_DISABLED"


ALLOWED = {"ALLOW_SELF_DELETE": True}


def allow(world):
    world.configure(CORE=ALLOWED)


def deletions(method, path):
    """The cases of one of the two routes that delete the own account."""
    route, send = f"{method} /{path}", with_proof(method, path, core=ALLOWED)

    def deletion_of_own_account(world):
        allow(world)
        return send(world)

    def deletion_while_disabled(world):
        world.configure(CORE={})
        return lambda: world.as_ann(method, path, password=PASSWORD)

    def deletion_by_last_super_admin(world):
        allow(world)
        promote(ANN)
        return send(world)

    case(route, "user.deleted ann")(deletion_of_own_account)
    case(route, code=DISABLED)(deletion_while_disabled)
    case(route, code="LAST_SUPER_ADMIN")(deletion_by_last_super_admin)


deletions("DELETE", "me")
deletions("POST", "me/delete")
LINK = "account/delete"


def link_to_delete(world):
    allow(world)
    person = lookup.find_by_email(ANN)
    return one_time.issue_link(deletion.DELETE_ACCOUNT, person, person.email_key).reveal()


def shown(world, token):
    return world.api.get(f"{LINK}?token={token}")


def used(world, token):
    return world.api.request("POST", LINK, {"token": token})


silent(f"GET /{LINK}", lambda world: shown(world, link_to_delete(world)))


@case(f"POST /{LINK}", "user.deleted ann")
def deletion_by_link(world):
    token = link_to_delete(world)
    return lambda: used(world, token)


@case(f"POST /{LINK}", code="LAST_SUPER_ADMIN")
def deletion_of_the_last_super_admin_by_link(world):
    token = link_to_delete(world)
    promote(ANN)
    return lambda: used(world, token)


for method, follow in {"GET": shown, "POST": used}.items():
    route = f"{method} /{LINK}"

    def unknown_link_to_delete(world, follow=follow):
        allow(world)
        return lambda: follow(world, "A" * 43)

    def expired_link_to_delete(world, follow=follow):
        token = link_to_delete(world)
        OneTimeToken.objects.update(expires_at=timezone.now())
        return lambda: follow(world, token)

    def link_to_delete_while_disabled(world, follow=follow):
        token = link_to_delete(world)
        world.configure(CORE={})
        return lambda: follow(world, token)

    case(route, code="INVALID_TOKEN")(unknown_link_to_delete)
    case(route, code="TOKEN_EXPIRED")(expired_link_to_delete)
    case(route, code=DISABLED)(link_to_delete_while_disabled)
