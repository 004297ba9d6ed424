"""Invitations to the service: their sender sends, repeats and cancels them, their recipient accepts
or declines with the link, and staff send, repeat and cancel them in Django admin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.credentials import attempt_counter, passwords
from authservice.core.invitations import acceptance, closing, mailing
from authservice.core.invitations.acceptance import Accepted, Profile
from authservice.core.invitations.closing import InvitationAccess
from authservice.core.invitations.models import Status
from authservice.core.messages import sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.users import identifiers, lookup
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.invitation.conf import conf
from authservice.invitation.errors import InvitationMaxPending
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import clock, databases, events, message_queue, sql
from authservice.kernel.client import Client
from authservice.kernel.errors import Forbidden, TooManyRequests, invalid
from authservice.kernel.interfaces import Page
from authservice.kernel.languages import one_of
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret
from authservice.kernel.sections import frontend

KIND = "invitation"
SENT, CANCELLED = "invitation.sent", "invitation.cancelled"
ACCEPTED, DECLINED = "invitation.accepted", "invitation.declined"
SORT_FIELDS = ("created_at", "expires_at", "status", "purpose")
# Without `status`: the list of a recipient has pending invitations only.
OWN_SORT_FIELDS = ("created_at", "expires_at", "purpose")


@dataclass(frozen=True)
class NewInvitation:
    """`metadata` is JSON text of the host project, or ""."""

    email: str
    purpose: str
    metadata: str = ""


def invite(
    person: Person, session: Session, new_invitation: NewInvitation, client: Client
) -> tuple[PlatformInvitation, bool]:
    """Invite an address and mail it a link. Returns the invitation, and whether a mail is sent: a
    recipient who gets no more mails today gets none.

    Raises `ValidationFailed`, `EmailNotConfigured`, `InvitationAlreadyExists`,
    `InvitationMaxPending`, `TooManyRequests`, `InvalidToken`, or `Forbidden` if the user may not
    invite.
    """
    _require_valid(new_invitation)
    with sessions.changing(person, session) as inviter:
        invitation, mailed = _invited(inviter, new_invitation, client)
        events.record(SENT, inviter, client, **described(invitation), **_not_mailed(mailed))
    return invitation, mailed


@clock.once
def invite_by_staff(
    new_invitation: NewInvitation, by: Any, client: Client
) -> tuple[PlatformInvitation, bool]:
    """Invite an address in Django admin; `by` is the member of staff, who is the sender. Returns
    and raises as `invite`."""
    _require_valid(new_invitation)
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([by.pk])
        inviter = lookup.get_person(by)
        invitation, mailed = _invited(inviter, new_invitation, client)
        metadata = {**described(invitation), **_not_mailed(mailed)}
        events.record_by_staff(SENT, by, inviter.user, client, **metadata)
    return invitation, mailed


def _require_valid(new_invitation: NewInvitation) -> None:
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    if not identifiers.is_new_email(new_invitation.email):
        raise invalid("email", identifiers.NEW_EMAIL_RULE)
    allowed = conf.allowed_purposes
    if allowed and new_invitation.purpose not in allowed:
        raise invalid("purpose", one_of(allowed))


@databases.inside_transaction
def _invited(
    inviter: Person, new_invitation: NewInvitation, client: Client
) -> tuple[PlatformInvitation, bool]:
    """The stored invitation, and whether its mail is sent. The caller holds the lock of the
    sender."""
    _require_may_invite(inviter)
    key = identifiers.email_key(new_invitation.email)
    _require_room(key)
    _require_no_other(inviter.user.pk, key, new_invitation.purpose)
    sending.count_invitation(inviter)
    invitation: PlatformInvitation = PlatformInvitation.objects.create(
        email=new_invitation.email,
        email_key=key,
        purpose=new_invitation.purpose,
        metadata=new_invitation.metadata,
        inviter=inviter.user,
        expires_at=clock.now() + conf.ttl,
    )
    return invitation, mailing.send(invitation, KIND, client, sender=inviter, ttl=conf.ttl)


def _not_mailed(mailed: bool) -> dict[str, Any]:
    """What the audit entry adds if the recipient gets no more mails today."""
    return {} if mailed else {"mailed": False}


def resend(
    person: Person, session: Session, invitation_id: str, client: Client
) -> tuple[PlatformInvitation, bool]:
    """Mail another link for a pending or expired invitation. The previous link ends and the expiry
    is renewed. Returns the same as `invite`; without a mail nothing changes.

    Raises what `cancel` raises, `EmailNotConfigured`, `TooManyRequests`, `Forbidden` if the user
    may not invite any more, and `InvitationAlreadyExists` or `InvitationMaxPending` if other
    invitations were sent since this one expired.
    """
    with sessions.changing(person, session) as inviter:
        _require_may_invite(inviter)
        invitation = _own(inviter, invitation_id)
        require_resendable(invitation)
        mailed = mailing.send(invitation, KIND, client, sender=inviter, ttl=conf.ttl)
        if mailed:
            events.record(SENT, inviter, client, again=True, **described(invitation))
    return invitation, mailed


def cancel(person: Person, session: Session, invitation_id: str, client: Client) -> None:
    """Cancel a pending invitation. Raises `InvitationNotFound`, `Forbidden` (it was sent by another
    user), `InvitationNotPending` or `InvalidToken`."""
    with sessions.changing(person, session) as inviter:
        invitation = _own(inviter, invitation_id)
        closing.cancel(invitation)
        events.record(CANCELLED, inviter, client, **described(invitation))


@clock.once
def resend_by_staff(invitation: PlatformInvitation, by: Any, client: Client) -> None:
    """Mail a new link in the name of the sender; `by` is the member of staff.

    Raises `InvitationNotFound`, what `require_resendable` raises, `InvitationNotPending` if the
    sender is suspended or may not invite, and `TooManyRequests` beyond a limit on mails.
    """
    with transaction.atomic(using=databases.primary()):
        current = _locked(invitation)
        require_resendable(current)
        inviter = lookup.get_person(current.inviter)
        if not inviter.active or not may_invite(inviter):
            raise errors.InvitationNotPending  # nobody could accept it
        # The mail counts towards the limit of the member of staff, not of the inviter.
        staff = lookup.get_person(by)
        if not mailing.send(current, KIND, client, sender=staff, ttl=conf.ttl):
            raise TooManyRequests
        metadata = {**described(current), "again": True}
        events.record_by_staff(SENT, by, current.inviter, client, **metadata)


def cancel_by_staff(invitation: PlatformInvitation, by: Any, client: Client) -> None:
    """Cancel a pending invitation; `by` is the member of staff. Raises `InvitationNotFound` or
    `InvitationNotPending`."""
    with transaction.atomic(using=databases.primary()):
        current = _locked(invitation)
        closing.cancel(current)
        events.record_by_staff(CANCELLED, by, current.inviter, client, **described(current))


def _locked(invitation: PlatformInvitation) -> PlatformInvitation:
    """The current row, with the user who sent it locked as in a request of that user."""
    passwords.lock_users([invitation.inviter_id])
    rows = PlatformInvitation.objects.select_related("inviter")
    current: PlatformInvitation | None = rows.filter(pk=invitation.pk).first()
    if current is None:
        raise errors.InvitationNotFound
    return current


def may_invite(person: Person) -> bool:
    """Whether `INVITATION.WHO_MAY_INVITE` allows this user to invite."""
    return people.allows(conf.who_may_invite, person)


@databases.inside_transaction
def require_resendable(invitation: PlatformInvitation) -> None:
    """Raises `InvitationNotPending`; for an expired invitation also what `invite` would raise now.

    The caller holds the lock of the sender.
    """
    if invitation.status != Status.PENDING:
        raise errors.InvitationNotPending
    if invitation.current_status == Status.EXPIRED:
        _require_room(invitation.email_key)
        _require_no_other(invitation.inviter_id, invitation.email_key, invitation.purpose)


def described(invitation: PlatformInvitation) -> dict[str, Any]:
    """The metadata of audit entries."""
    return {
        "invitation": str(invitation.pk),
        "email": invitation.email,
        "purpose": invitation.purpose,
    }


def _require_may_invite(person: Person) -> None:
    if not may_invite(person):
        raise Forbidden


def _require_no_other(inviter_id: Any, email_key: str, purpose: str) -> None:
    """Raises `InvitationAlreadyExists`. The caller has locked the row of the inviter, so concurrent
    requests of the inviter wait."""
    rows = PlatformInvitation.objects.pending().filter(email_key=email_key, purpose=purpose)
    if rows.filter(inviter=inviter_id).exists():
        raise errors.InvitationAlreadyExists


def _require_room(email_key: str) -> None:
    """Raises `InvitationMaxPending`. Two senders may invite an address at once: the second
    waits for the lock of the address, and then sees the invitation of the first."""
    if not conf.max_pending_per_email:
        return
    attempt_counter.lock(attempt_counter.key("invited", email_key))
    pending = PlatformInvitation.objects.pending().filter(email_key=email_key)
    if pending.count() >= conf.max_pending_per_email:
        raise InvitationMaxPending


def _own(inviter: Person, invitation_id: str) -> PlatformInvitation:
    """The invitation with this id. Raises `InvitationNotFound`, or `Forbidden` if another user sent
    it."""
    try:
        pk = UUID(invitation_id)
    except ValueError:
        raise errors.InvitationNotFound from None
    invitation: PlatformInvitation | None = PlatformInvitation.objects.filter(pk=pk).first()
    if invitation is None or str(pk) != invitation_id:  # only the canonical form is an id
        raise errors.InvitationNotFound
    if invitation.inviter_id != inviter.user.pk:
        raise Forbidden
    return invitation


def accept(
    token: Secret,
    profile: Profile,
    client: Client,
    *,
    caller: Caller | None,
    visitor: Person | None,
    refresh_token: Secret,
) -> Accepted[None]:
    """Accept and sign in; see `acceptance.accept`. Also raises what `closing.find` raises."""
    invitation = closing.find(PlatformInvitation, token, client)
    join = partial(_joined, invitation, client)
    return acceptance.accept(
        invitation,
        profile,
        client,
        caller=caller,
        visitor=visitor,
        refresh_token=refresh_token,
        join=join,
    )


def describe(token: Secret, client: Client) -> dict[str, Any]:
    """What the page of the link shows: the address, and whether it has an account. Raises as
    `closing.find` does."""
    return acceptance.describe(closing.find(PlatformInvitation, token, client))


def decline(token: Secret, client: Client) -> None:
    """Decline. The recorded actor is the account of the address, if there is one. Raises as
    `closing.find` does."""
    invitation = closing.find(PlatformInvitation, token, client)
    with transaction.atomic(using=databases.primary()):
        closing.close(invitation, Status.DECLINED)
        recipient, inviter = lookup.find_by_email(invitation.email), _inviter(invitation)
        _record(DECLINED, recipient, inviter, invitation, client)


def _joined(invitation: PlatformInvitation, client: Client, person: Person) -> None:
    """The `join` of `acceptance.accept`: record the acceptance, in its transaction. Raises
    `InvitationNotPending`."""
    inviter = _inviter(invitation)
    # The invitation is void while its sender is suspended or may not invite.
    if inviter is None or not inviter.active or not may_invite(inviter):
        raise errors.InvitationNotPending
    _record(ACCEPTED, person, inviter, invitation, client)


def _inviter(invitation: PlatformInvitation) -> Person | None:
    return lookup.find_by_pk(invitation.inviter_id)


def _record(
    action: str,
    recipient: Person | None,
    inviter: Person | None,
    invitation: PlatformInvitation,
    client: Client,
) -> None:
    target = inviter.user if inviter else None
    events.record(action, recipient, client, target=target, **described(invitation))


@dataclass(frozen=True)
class Filter:
    """An empty value does not filter. `query` is a part of the address, in upper or lower case."""

    status: str = ""
    purpose: str = ""
    query: str = ""


def sent_by(person: Person, filters: Filter, page: Page) -> tuple[list[PlatformInvitation], int]:
    """One page of the invitations that the user sent, and how many there are."""
    rows = PlatformInvitation.objects.filter(inviter=person.user.pk)
    if filters.status:
        rows = rows.with_status(filters.status)
    column = "shown_status" if page.sort_field == "status" else ""
    return _page(rows.with_shown_status() if column else rows, filters, page, column)


def pending_for(
    person: Person, filters: Filter, page: Page
) -> tuple[list[PlatformInvitation], int]:
    """The pending invitations for the address of the user, verified or not, and how many there
    are."""
    if not person.email:
        return [], 0
    rows = PlatformInvitation.objects.pending().filter(email_key=person.email_key)
    return _page(rows, filters, page)


def _page(
    rows: Any, filters: Filter, page: Page, column: str = ""
) -> tuple[list[PlatformInvitation], int]:
    """One page of the rows that match the filter, and how many match. `column` is that of
    `Page.order`."""
    if filters.purpose:
        rows = rows.filter(purpose=filters.purpose)
    if filters.query:
        matching = sql.containing(filters.query, "email", using=databases.primary())
        rows = rows.filter(matching)
    total = rows.count()
    return list(page.cut(rows.order_by(*page.order(column)))), total


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    invitation = mailing.find_for(message, PlatformInvitation)
    inviter = lookup.find_by_pk(invitation.inviter_id) if invitation else None
    if inviter is None or not inviter.active:
        return None
    # An address that its owner has verified, never a name: a user may choose any text as a name.
    context = {"inviter": inviter.email if inviter.email_verified else ""}
    return mailing.compose(message, invitation, frontend.invitation_path, context)


def _record_recovery(person: Person, invitation: PlatformInvitation) -> None:
    events.record(CANCELLED, person, Client(), reason="recovery", **described(invitation))


account_access = InvitationAccess(PlatformInvitation, record=_record_recovery, ttl=lambda: conf.ttl)


def expired_rows() -> dict[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    over: QuerySet[Any] = PlatformInvitation.objects.over_since(clock.now() - conf.kept)
    return {"invitations": over}
