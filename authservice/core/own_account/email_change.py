"""Users change their e-mail address: the address stays until the user opens the link that is mailed
to the new one.

The request stores a row without a token, so that a free and a taken address take the same time; the
worker that mails the link issues the token (`compose`). The row is no longer valid once the
password or the address of the account changes, or the link of a later request is mailed. The link
changes the address of the account and proves it (`confirm`).

The former address gets a link that restores it, so it is reserved for the account for 72 hours: an
intruder could change the address and then sign up with the former one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, QuerySet

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, one_time, passwords
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import compose as composing
from authservice.core.messages import kinds, mailed_links, security_notice, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import AddressReservation, OneTimeToken, Session
from authservice.core.recovery import recent_proof, takeover
from authservice.core.recovery.recent_proof import Proof
from authservice.core.sessions import sessions
from authservice.core.users import host_fields, identifier_change, identifiers, lookup
from authservice.core.users.identifiers import EMAIL
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, invalid
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret

# The target of rows with this purpose is the new address. Their payload has the key of the former
# address and the token version, which must still be those of the account.
CHANGE_EMAIL = Purpose("change-email", link_ttl=timedelta(hours=24), addressed=False)
REQUEST = "change"  # a detail of the job: the id of the row
_RESERVED_FOR = timedelta(hours=72)  # as long as the link of a security notice is valid
_REQUESTS = Budget.fixed(limit=5, window=timedelta(days=1))


def request(person: Person, session: Session, email: str, proof: Proof, client: Client) -> bool:
    """Mail a link to the new address and a notice to the former one. Another spelling of the same
    address is stored at once, without a mail. Returns whether the address of the account differs.

    Raises the errors of `recent_proof.require_owner`, `EmailNotConfigured`, `ValidationFailed`,
    `UserAlreadyExists` (not if `SIGNUP_ENUMERATION` hides it), `TooManyRequests` and
    `InvalidToken`.
    """
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured

    # An address that the account could not have is refused before the proof is checked.
    same = identifier_change.is_same(person, EMAIL, email)
    if not same and not identifiers.is_new_email(email):
        raise invalid("email", identifiers.NEW_EMAIL_RULE)
    if host().email:
        host_fields.set_value(host().model(), host().email, email, field="email")
    recent_proof.require_owner(person, session, proof, client, method="change_email")
    with _counted(person, client), sessions.changing(person, session) as present:
        recent_proof.require_unchanged(person, present)
        row = _begin(present, session, email, client)
    if row is None:
        return False

    # Sent after the commit: inside the transaction, the counters of the limits would stay locked
    # until the commit. A mail ends the earlier requests. Beyond a limit no mail is sent, so the new
    # request ends instead: otherwise the user would lose the link that they have and get no other.
    details = {REQUEST: str(row.pk)}
    if not sending.to_email(kinds.CHANGE_EMAIL, email, client, details=details):
        one_time.consume(row)
        return True
    # Every function that revokes several tokens of a user locks the user first.
    with transaction.atomic(using=databases.primary()):
        passwords.lock_user(person)
        # Only earlier requests end: otherwise two concurrent ones could end each other, and neither
        # link would work.
        rows = OneTimeToken.objects.filter(purpose=row.purpose, user=row.user_id, spent_at=None)
        rows.filter(created_at__lt=row.created_at).update(spent_at=clock.now())
    return True


@contextmanager
def _counted(person: Person, client: Client) -> Iterator[None]:
    """Limit requests: 5 per account and day; refused ones count under `is-available`."""
    key = attempt_counter.key("change-email", person.id)
    attempt_counter.consume_flood(key, _REQUESTS)
    try:
        with identifier_change.counted(client):
            yield
    except Fault:
        attempt_counter.refund(key)
        raise


def _begin(person: Person, session: Session, email: str, client: Client) -> OneTimeToken | None:
    """The stored request; None if only the spelling of the address changes."""
    if identifier_change.is_same(person, EMAIL, email):
        before = person.email
        if email != before:
            identifier_change.replace(person, EMAIL, email)
            change = {"before": before, "after": email}
            events.record("user.email.changed", person, client, email=change)
        return None
    if core.signup_enumeration == "tell":
        identifier_change.require_free(person, EMAIL, email)
    state = security_notice.state_of(person)
    kind = kinds.EMAIL_CHANGE_REQUESTED
    link = not is_reserved_for(person, identifiers.email_key(email))
    security_notice.notify(kind, person, client, state, link=link, new_email=email)
    now = clock.now()
    # `created_at` must order the requests as the lock of the user does. `now` is when this request
    # began, which may be before the last one was stored.
    rows = OneTimeToken.objects.filter(purpose=CHANGE_EMAIL.name, user=person.user.pk)
    last_created_at = rows.aggregate(last=Max("created_at"))["last"]
    return OneTimeToken.objects.create(
        purpose=CHANGE_EMAIL.name,
        user_id=person.user.pk,
        target_key=identifiers.email_key(email),
        payload={
            "email": email,
            "former_key": person.email_key,
            "token_version": person.token_version,
            "session": str(session.pk),
        },
        password_fingerprint=passwords.fingerprint(person.user.password),
        created_at=max(now, last_created_at + timedelta.resolution) if last_created_at else now,
        expires_at=now + CHANGE_EMAIL.link_ttl,
    )


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {
        kinds.CHANGE_EMAIL: compose,
        kinds.EMAIL_CHANGE_CONFIRMED: composing.notice,
    }


def compose(message: Message) -> OutgoingMessage | None:
    """Compose the mail with the link to the new address; or, if another account has that address, a
    notice to the owner of that account."""
    try:
        row_id = UUID(message.details.get(REQUEST, ""))
    except ValueError:
        return None
    rows = OneTimeToken.objects.filter(
        pk=row_id, purpose=CHANGE_EMAIL.name, spent_at=None, expires_at__gt=clock.now()
    )
    # Locked, so that of two concurrent jobs the later one issues the token that works.
    row = rows.select_for_update().first()
    person = composing.reachable(lookup.find_by_pk(row.user_id)) if row else None
    if row is None or person is None:
        return None
    is_current = person.email_key == row.payload["former_key"] and passwords.matches_fingerprint(
        row.password_fingerprint, person.user.password
    )
    if not is_current:
        return None
    # Another user may have the address, or it is reserved for them.
    holder = lookup.find_by_email(message.target)
    if holder is None:
        key = identifiers.email_key(message.target)
        pk = reserved_for(key).exclude(user=person.user.pk).first()
        holder = lookup.find_by_pk(pk) if pk is not None else None
    if holder is not None:
        return _mail(message, kinds.EMAIL_TAKEN, composing.reachable(holder))
    token = one_time.new_token()
    digest = one_time.link_digest(CHANGE_EMAIL, token)
    OneTimeToken.objects.filter(pk=row.pk).update(digest=digest)
    link = mailed_links.to_route("confirm-email-change", token)
    time_left = composing.hours_until(row.expires_at)
    return _mail(message, message.kind, person, link=link, expires_in=time_left)


def _mail(
    message: Message, kind: str, person: Person | None, **context: Any
) -> OutgoingMessage | None:
    """A mail to the address of the job, which is not that of the account."""
    if person is None:
        return None
    return OutgoingMessage(
        kind=kind,
        channel="email",
        to=message.target,
        person=person,
        language=message.language,
        context=context,
    )


def find(token: Secret) -> tuple[Person, str]:
    """The account of a link, and the new address, also for a link that was used.

    Raises `InvalidVerificationToken` or `VerificationTokenExpired`.
    """
    person, issued = _find(token)
    if issued.spent_at is not None or not _is_unchanged(person, issued):
        _require_done(person, issued)
    return person, issued.payload["email"]


def confirm(
    token: Secret, client: Client, *, proof: bool, own: Callable[[Person, str], bool]
) -> None:
    """Change the address; a second click before the link expires succeeds again.

    `proof` says that a human opened the link. Otherwise a mail scanner may have opened it: the
    address is verified but not proven. `own` tells, for the account and its new address, whether
    the client is the one that requested the change. If not, the owner of the new mailbox may be
    another person than the one who set up the account; see `takeover.distrust`. Raises the errors
    of `find`.
    """
    person, issued = _find(token)
    is_own = proof and own(person, issued.payload["email"])
    with transaction.atomic(using=databases.primary()):
        present = one_time.consume_for(CHANGE_EMAIL, person, issued)
        if present is not None:
            _change(present, issued, client, proof=proof, own=is_own)
            return
    # Read again: another click may have used the link since it was found.
    _require_done(lookup.find_by_pk(issued.user_id), issued)


def _find(token: Secret) -> tuple[Person, OneTimeToken]:
    try:
        return one_time.find_link(CHANGE_EMAIL, token)
    except errors.LinkExpired as error:
        raise errors.VerificationTokenExpired from error
    except errors.InvalidLink as error:
        raise errors.InvalidVerificationToken from error


def _is_unchanged(person: Person, issued: OneTimeToken) -> bool:
    """Whether the account still has the address that it had at the request, and neither all its
    sessions nor that of the request were ended since: the reason may have been an intruder, who may
    have sent the request."""
    # A request from before an upgrade has neither a version nor a session.
    version = issued.payload.get("token_version", person.token_version)
    session_id = issued.payload.get("session", "")
    return bool(
        person.email_key == issued.payload["former_key"]
        and person.token_version == version
        and not (session_id and sessions.was_revoked(session_id))
    )


def _require_done(person: Person | None, issued: OneTimeToken) -> None:
    """Raises `InvalidVerificationToken` unless the link set the present address of the
    account: a spent link was either used or cancelled."""
    if person is None or not person.active or person.email_key != issued.target_key:
        raise errors.InvalidVerificationToken


def _change(
    person: Person, issued: OneTimeToken, client: Client, *, proof: bool, own: bool
) -> None:
    if not _is_unchanged(person, issued):
        raise errors.InvalidVerificationToken
    email, key = issued.payload["email"], issued.target_key
    before = security_notice.state_of(person)
    former_key = person.email_key
    now = clock.now()

    # The links and codes that were sent to the former address end, except "this was not me". Rows
    # without a target were not sent to an address.
    if former_key:
        rows = OneTimeToken.objects.filter(
            user=person.user.pk, target_key=former_key, spent_at=None
        )
        rows.exclude(purpose=one_time.SECURE.name).update(spent_at=now)

    fields: dict[str, Any] = {"verified_email_key": key}
    if proof:
        fields["proven_email_key"] = key
    if proof and not (own and person.email_proven):
        # What came before this time is suspect. A proven account that changes its own address keeps
        # the time of its first proof.
        fields["email_proven_at"] = now
    try:
        identifier_change.replace(person, EMAIL, email, **fields)
    except errors.UserAlreadyExists as error:
        raise errors.InvalidVerificationToken from error

    if before["proven_email_key"] == former_key:
        # Otherwise anybody could block an address of somebody else: sign up with it and leave it.
        reserve(person, former_key)
    change = {"before": before["email"], "after": email}
    events.record("user.email.changed", person, client, email=change)
    # An account that goes back to its former address leaves that of an intruder, perhaps. No link
    # in that mailbox may undo this.
    goes_back = is_reserved_for(person, key)
    if goes_back:
        security_notice.end_mailed_to(person, former_key)
    kind = kinds.EMAIL_CHANGED
    security_notice.notify(kind, person, client, before, link=not goes_back, new_email=email)
    # The new address may be that of an intruder. The link to the former one is older, so its use
    # ends the link to the new one.
    if proof and not own:
        takeover.distrust(person, client)
    details = message_queue.describe_client(client)
    using = databases.primary()
    kind = kinds.EMAIL_CHANGE_CONFIRMED
    message_queue.send(kind, email, client, using=using, details=details)


@clock.once
def reserve(person: Person, email_key: str) -> None:
    """Reserve an address, by its key, for the account that has just left it; no address for ""."""
    if email_key:
        expires_at = clock.now() + _RESERVED_FOR
        AddressReservation.objects.create(
            user_id=person.user.pk, email_key=email_key, expires_at=expires_at
        )


def reserved_for(email_key: str) -> QuerySet[AddressReservation, Any]:
    """Primary keys of the users for whom the address is reserved."""
    rows = AddressReservation.objects.filter(email_key=email_key, expires_at__gt=clock.now())
    return rows.values_list("user", flat=True)


def is_reserved_for(person: Person, email_key: str) -> bool:
    return reserved_for(email_key).filter(user=person.user.pk).exists()
