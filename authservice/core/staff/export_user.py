"""The export of everything that is stored about a user: by the users themselves, at most once an
hour, and by staff who answer a request for it.

The parts are those of core, then those of the modules (slot `support`), then those of the project
(`CORE.EXPORT_HOOK`). No part contains a secret, a hash or a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, lockout
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.models import (
    AddressReservation,
    AttemptCounter,
    LostMessage,
    OneTimeToken,
    PasswordCheck,
    Session,
    UnseenPassword,
)
from authservice.core.staff import login_obstacles
from authservice.core.users.person import Person
from authservice.kernel import clock, events, support_parts
from authservice.kernel.client import Client
from authservice.kernel.languages import phrase
from authservice.kernel.modules import plugs
from authservice.kernel.support_parts import REMOVED, Part, Row, Support, stored

ONCE = Budget.fixed(limit=1, window=timedelta(hours=1))
_SESSION = (
    *("id", "method", "amr", "auth_time", "levels", "organization_id", "device_id", "user_agent"),
    *("ip_address", "created_at", "refreshed_at", "last_used_at", "idle_expires_at"),
    *("expires_at", "ended_at", "end_reason"),
)
_TOKEN = ("id", "purpose", "payload", "attempts", "created_at", "expires_at", "spent_at")
_LOST = ("kind", "recipient", "job", "reason", "lost_at", "sent_again_at")
# The exported values of the payload of a one-time token. The others are sealed, or digests.
_PAYLOAD = ("email", "phone_number", "provider", "method")


def export(person: Person, client: Client) -> Iterator[bytes]:
    """The chunks of the document, for the user. The export is recorded before the first chunk.

    Raises `TooManyRequests` within an hour after the last export. A failed export does not count.
    """
    key = attempt_counter.key("export", person.id)
    attempt_counter.consume_flood(key, ONCE)
    try:
        events.record("user.exported", person, client)
        chunks = document(person)
    except Exception:
        attempt_counter.refund(key)
        raise
    return _refunded_if_broken(chunks, key)


def _refunded_if_broken(chunks: Iterator[bytes], key: str) -> Iterator[bytes]:
    """The chunks; an error of the service or of the project gives the export of this hour back. A
    client that disconnects does not get it back: it could read most of the document again and
    again."""
    try:
        yield from chunks
    except Exception:
        attempt_counter.refund(key)
        raise


def export_by_staff(person: Person) -> Iterator[bytes]:
    """The chunks of the document, for an operator in a shell. The export is recorded before the
    first chunk."""
    events.record_by_staff("admin.user.exported", None, person.user, Client())
    return document(person)


@clock.once
def document(person: Person) -> Iterator[bytes]:
    """The chunks of the document about the user, see `support_parts.document`.

    Each part knows its database and its language when this returns: they may be those of the
    request, which ends before the document is written.
    """
    facts = {"user_id": person.id, "exported_at": clock.now()}
    service_parts = [*parts(person)]
    for module in plugs(Support):
        service_parts += module.personal_data(person)
    return support_parts.document(facts, _with_project(service_parts, person))


def parts(person: Person) -> Iterable[Part]:
    """The parts of core."""
    sessions = Session.objects.filter(user=person.user.pk)
    tokens = OneTimeToken.objects.filter(user=person.user.pk)
    reserved = AddressReservation.objects.filter(user=person.user.pk)
    checks = PasswordCheck.objects.filter(user=person.user.pk)
    unseen = UnseenPassword.objects.filter(user=person.user.pk)
    lost = LostMessage.objects.filter(user=person.user.pk)
    devices = lockout.device_ids(person)
    return (
        Part(
            name="account",
            purpose=phrase("Your profile, and how you can be reached and found by a login."),
            after_deletion=REMOVED,
            rows=[_account(person)],
        ),
        Part(
            name="sessions",
            purpose=phrase("Keeps you signed in, and shows you where you are signed in."),
            after_deletion=REMOVED,
            rows=stored(sessions, *_SESSION),
        ),
        Part(
            name="known_devices",
            purpose=phrase(
                "Devices on which you have logged in: attackers elsewhere cannot use up your"
                " attempts there."
            ),
            after_deletion=REMOVED,
            rows=[{"device_id": device} for device in devices],
        ),
        Part(
            name="links_and_codes",
            purpose=phrase(
                "Links and codes that were sent to you, and actions that you have begun and not"
                " finished."
            ),
            after_deletion=REMOVED,
            rows=stored(tokens, *_TOKEN, shown=_token),
        ),
        Part(
            name="reserved_addresses",
            purpose=phrase("Your former addresses: for three days nobody else can use them."),
            after_deletion=REMOVED,
            rows=stored(reserved, "expires_at"),
        ),
        Part(
            name="password_checks",
            purpose=phrase("Whether your password was found unsafe, to notify you only once."),
            after_deletion=REMOVED,
            rows=stored(checks, "rule", "expires_at"),
        ),
        Part(
            name="unseen_passwords",
            purpose=phrase("Checks your password at your first login with it, after your sign-up."),
            after_deletion=REMOVED,
            rows=stored(unseen, "expires_at"),
        ),
        Part(
            name="lost_messages",
            purpose=phrase("Messages to you that could not be sent, to send them again."),
            after_deletion=REMOVED,
            rows=stored(lost, *_LOST, shown=_lost),
        ),
        Part(
            name="failed_attempts",
            purpose=phrase(
                "Counts wrong passwords and codes, so that nobody can find yours by trying."
            ),
            after_deletion=phrase("Removed one day after the last attempt."),
            rows=_attempts(person),
        ),
    )


def _account(person: Person) -> Row:
    account = person.account
    return {
        "id": person.id,
        "email": person.email,
        "email_verified": person.email_verified,
        "email_proven_at": account.email_proven_at,
        "username": person.username,
        "name": account.name,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "avatar": account.avatar,
        "phone_number": account.phone_number,
        "phone_number_verified": person.phone_number_verified,
        "phone_set_by": account.phone_set_by,
        "phone_added_at": account.phone_added_at,
        "phone_verified_at": account.phone_verified_at,
        "has_password": person.user.has_usable_password(),
        "active": person.active,
        "is_super_admin": person.is_super_admin,
        "created_at": account.created_at,
        "updated_at": account.updated_at,
        "last_login_at": person.last_login_at,
        "recovered_at": account.recovered_at,
        "mail_failed_at": account.mail_failed_at,
        "mail_failure": account.mail_failure,
    }


def _token(row: dict[str, Any]) -> Row:
    payload = row.pop("payload")
    exported = {name: payload[name] for name in _PAYLOAD if payload.get(name)}
    return {**row, **exported}


def _lost(row: dict[str, Any]) -> Row:
    job = row.pop("job")
    return {**row, "language": job.get("language", ""), "details": job.get("details", {})}


def _attempts(person: Person) -> list[Row]:
    counters = {counter.key: counter for counter in login_obstacles.counters(person)}
    return [
        {"attempts": row.count, "of": str(counters[row.key].attempts), "ends_at": row.ends_at}
        for row in AttemptCounter.objects.filter(key__in=counters, count__gt=0).order_by("ends_at")
    ]


def _with_project(own: list[Part], person: Person) -> Iterator[Part]:
    """Add the parts of the project. They come last: an error in one of them ends the document."""
    yield from own
    if not core.export_hook:
        return
    hook: Callable[[Any], Iterable[tuple[str, str, Iterable[Row]]]] = import_string(
        core.export_hook
    )
    for name, purpose, rows in hook(person.user):
        yield Part(name=name, purpose=purpose, rows=rows)
