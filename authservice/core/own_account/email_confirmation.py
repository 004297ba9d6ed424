"""The link to a new e-mail address: it changes the address of the account and proves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction

from authservice.core import errors
from authservice.core.credentials import one_time
from authservice.core.messages import kinds, security_notice
from authservice.core.models import OneTimeToken
from authservice.core.own_account.email_change import CHANGE_EMAIL
from authservice.core.recovery import earlier_access
from authservice.core.users import identifier_change, lookup, reservations
from authservice.core.users.identifiers import EMAIL
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret


def find(token: Secret) -> tuple[Person, str]:
    """The account of a link, and its new address; also of a link that was used.

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
    another person than the one who set up the account; see `earlier_access`. Raises as `find` does.
    """
    person, issued = _find(token)
    known = proof and own(person, issued.payload["email"])
    with transaction.atomic(using=databases.primary()):
        present = one_time.consume_for(CHANGE_EMAIL, person, issued)
        if present is not None:
            _change(present, issued, client, proof=proof, own=known)
            return
    # Read again: another click may have used the link since it was found.
    _require_done(lookup.find_by_pk(issued.user_id), issued)


def _find(token: Secret) -> tuple[Person, OneTimeToken]:
    try:
        return one_time.find_link(CHANGE_EMAIL, token)
    except errors.LinkExpired as wrong:
        raise errors.VerificationTokenExpired from wrong
    except errors.InvalidLink as wrong:
        raise errors.InvalidVerificationToken from wrong


def _is_unchanged(person: Person, issued: OneTimeToken) -> bool:
    """Whether the account has the address of the request, which staff or the project may have
    changed, and nobody has ended all its sessions since: an intruder may have requested it."""
    # A request from before an upgrade has no version.
    version = issued.payload.get("token_version", person.token_version)
    return bool(
        person.email_key == issued.payload["former_key"] and person.token_version == version
    )


def _require_done(person: Person | None, issued: OneTimeToken) -> None:
    """Raises `InvalidVerificationToken` unless the used link set the present address of the
    account. A cancelled link did not."""
    if person is None or not person.active or person.email_key != issued.target_key:
        raise errors.InvalidVerificationToken


def _change(
    person: Person, issued: OneTimeToken, client: Client, *, proof: bool, own: bool
) -> None:
    if not _is_unchanged(person, issued):
        raise errors.InvalidVerificationToken
    email, key = issued.payload["email"], issued.target_key
    before, former = security_notice.state_of(person), person.email_key
    _end_tokens(person, former)
    try:
        identifier_change.replace(
            person, EMAIL, email, **_proven(person, key, proof=proof, own=own)
        )
    except errors.UserAlreadyExists as wrong:
        raise errors.InvalidVerificationToken from wrong
    if before["proven_email_key"] == former:
        # Otherwise anybody could block an address of somebody else: sign up with it and leave it.
        reservations.reserve(person, former)
    if proof and not own:
        earlier_access.distrust(person, client)
    change = {"before": before["email"], "after": email}
    events.record("user.email.changed", person, client, email=change)
    security_notice.notify(kinds.EMAIL_CHANGED, person, client, before, new_email=email)
    seen, using = message_queue.describe_client(client), databases.primary()
    kind = kinds.EMAIL_CHANGE_CONFIRMED
    message_queue.send(kind, email, client, using=using, details=seen)


def _proven(person: Person, key: str, *, proof: bool, own: bool) -> dict[str, Any]:
    """What the account stores about the new address."""
    fields: dict[str, Any] = {"verified_email_key": key}
    if proof:
        fields["proven_email_key"] = key
    if proof and not (own and person.email_proven):
        # What came before this time is suspect. A proven account that changes its own address keeps
        # the time of its first proof.
        fields["email_proven_at"] = clock.now()
    return fields


def _end_tokens(person: Person, former: str) -> None:
    """End the links and codes that were sent to the former address, except "this was not me"."""
    if not former:
        return  # rows without a target were not sent to an address
    rows = OneTimeToken.objects.filter(user=person.user.pk, target_key=former, spent_at=None)
    kept = (one_time.SECURE.name, reservations.PURPOSE)
    rows.exclude(purpose__in=kept).update(spent_at=clock.now())
