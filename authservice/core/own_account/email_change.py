"""Users request another e-mail address: nothing changes until a link to it is opened.

The request stores a row without a token, so that a free and a taken address cost the same; the
worker that mails the link issues the token (`email_messages`). The row ends with the password, with
the address of the account, and with the next request whose link is mailed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction
from django.db.models import Max

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, one_time, passwords
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.credentials.one_time import Purpose
from authservice.core.errors import EmailNotConfigured
from authservice.core.messages import kinds, security_notice, sending
from authservice.core.models import OneTimeToken, Session
from authservice.core.recovery import recent_proof
from authservice.core.recovery.recent_proof import Proof
from authservice.core.sessions import sessions
from authservice.core.users import host_fields, identifier_change, identifiers
from authservice.core.users.identifiers import EMAIL
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, errors, events, message_queue
from authservice.kernel.client import Client

# The target of its rows is the new address. The payload has the former one and the token version,
# which must still be those of the account.
CHANGE_EMAIL = Purpose("change-email", link_ttl=timedelta(hours=24), addressed=False)
REQUEST = "change"  # of the job: the id of the row
_REQUESTS = Budget.fixed(limit=5, window=timedelta(days=1))


def request(person: Person, session: Session, email: str, proof: Proof, client: Client) -> None:
    """Mail a link to the new address and a notice to the former one. Another spelling of the same
    address is stored at once.

    Raises as `recent_proof.require_owner` does, `EmailNotConfigured`, `ValidationFailed`,
    `UserAlreadyExists` (not if `SIGNUP_ENUMERATION` hides it), `TooManyRequests` and
    `InvalidToken`.
    """
    if not message_queue.can_mail():
        raise EmailNotConfigured
    _require_acceptable(person, email)
    recent_proof.require_owner(person, session, proof, client, method="change_email")
    with _counted(person, client), sessions.changing(person, session) as present:
        recent_proof.require_unchanged(person, present)
        row = _begin(present, email, client)
    if row is not None:
        # After the commit: otherwise the counters of the limits stay locked until then.
        _mail(row, person, email, client)


def _require_acceptable(person: Person, email: str) -> None:
    """Raises `ValidationFailed` for an address that the account could not have."""
    same = identifier_change.is_same(person, EMAIL, email)
    if not same and not identifiers.is_new_email(email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)
    if host().email:
        host_fields.set_value(host().model(), host().email, email, field="email")


@contextmanager
def _counted(person: Person, client: Client) -> Iterator[None]:
    """Limit requests: 5 per account and day; refused ones count under `is-available`."""
    key = attempt_counter.key("change-email", person.id)
    attempt_counter.consume_flood(key, _REQUESTS)
    try:
        with identifier_change.counted(client):
            yield
    except errors.Fault:
        attempt_counter.refund(key)
        raise


def _begin(person: Person, email: str, client: Client) -> OneTimeToken | None:
    """The stored request; None if only the spelling of the address changes."""
    if identifier_change.is_same(person, EMAIL, email):
        _respell(person, email, client)
        return None
    if core.signup_enumeration == "tell":
        identifier_change.require_free(person, EMAIL, email)
    before = security_notice.state_of(person)
    kind = kinds.EMAIL_CHANGE_REQUESTED
    security_notice.notify(kind, person, client, before, new_email=email)
    return _store(person, email)


def _respell(person: Person, email: str, client: Client) -> None:
    before = person.email
    if email != before:
        identifier_change.replace(person, EMAIL, email)
        change = {"before": before, "after": email}
        events.record("user.email.changed", person, client, email=change)


def _store(person: Person, email: str) -> OneTimeToken:
    now = clock.now()
    # The requests are in the order that the lock of the user decides, although this one may have
    # begun before the last.
    rows = OneTimeToken.objects.filter(purpose=CHANGE_EMAIL.name, user=person.user.pk)
    last = rows.aggregate(last=Max("created_at"))["last"]
    return OneTimeToken.objects.create(
        purpose=CHANGE_EMAIL.name,
        user_id=person.user.pk,
        target_key=identifiers.email_key(email),
        payload={
            "email": email,
            "former_key": person.email_key,
            "token_version": person.token_version,
        },
        password_fingerprint=passwords.fingerprint(person.user.password),
        created_at=max(now, last + timedelta.resolution) if last else now,
        expires_at=now + CHANGE_EMAIL.link_ttl,
    )


def _mail(row: OneTimeToken, person: Person, email: str, client: Client) -> None:
    """Mail the link, which ends earlier requests. Beyond a limit of mails it ends instead: the
    user would otherwise lose the link that they have and get no other."""
    details = {REQUEST: str(row.pk)}
    if not sending.to_email(kinds.CHANGE_EMAIL, email, client, details=details):
        one_time.consume(row)
        return
    # The lock of the user, which all that revoke several of their tokens take first.
    with transaction.atomic(using=databases.primary()):
        passwords.lock_and_read(person)
        _end_earlier(row)


def _end_earlier(row: OneTimeToken) -> None:
    """End the requests before this one. A later one stays: otherwise two concurrent requests could
    end each other, and neither link would work."""
    rows = OneTimeToken.objects.filter(purpose=row.purpose, user=row.user_id, spent_at=None)
    rows.filter(created_at__lt=row.created_at).update(spent_at=clock.now())
