"""Send, send again and cancel invitations: what their sender does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import UNLIMITED, Budget
from authservice.core.invitations import closing, mailing
from authservice.core.invitations.models import Status
from authservice.core.messages import counting
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import chosen, identifiers
from authservice.core.users.person import Person
from authservice.invitation.conf import conf
from authservice.invitation.messages import KIND
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.phrases import one_of

SENT, CANCELLED = "invitation.sent", "invitation.cancelled"
_LOCK = Budget.fixed(limit=UNLIMITED, window=attempt_counter.DAY)


@dataclass(frozen=True)
class NewInvitation:
    """`metadata` is JSON text of the host project, or ""."""

    email: str
    purpose: str
    metadata: str = ""


def invite(
    person: Person, session: Session, wanted: NewInvitation, client: Client
) -> PlatformInvitation:
    """Invite an address and mail it a link.

    Raises `ValidationFailed`, `EmailNotConfigured`, `InvitationAlreadyExists`,
    `InvitationMaxPending`, `TooManyRequests`, `InvalidToken`, or `Forbidden` if the user may not
    invite.
    """
    _require_valid(wanted)
    with sessions.changing(person, session) as inviter:
        _require_sender(inviter)
        key = identifiers.email_key(wanted.email)
        _require_room(key)
        _require_no_other(inviter.user.pk, key, wanted.purpose)
        counting.count_invitation(inviter)
        invitation: PlatformInvitation = PlatformInvitation.objects.create(
            email=wanted.email,
            email_key=key,
            purpose=wanted.purpose,
            metadata=wanted.metadata,
            inviter=inviter.user,
            expires_at=timezone.now() + conf.ttl,
        )
        events.record(SENT, inviter, client, **described(invitation))
        mailing.send(invitation, KIND, client, ttl=conf.ttl)
    return invitation


def resend(
    person: Person, session: Session, invitation_id: str, client: Client
) -> PlatformInvitation:
    """Mail another link for a pending or expired invitation. The previous link ends and the expiry
    is renewed; beyond a limit on mails nothing changes.

    Raises as `cancel` does, `Forbidden` if the user may not invite any more, and
    `InvitationAlreadyExists` or `InvitationMaxPending` if others were sent since it expired.
    """
    with sessions.changing(person, session) as inviter:
        _require_sender(inviter)
        invitation = _own(inviter, invitation_id)
        require_resendable(invitation)
        if mailing.send(invitation, KIND, client, ttl=conf.ttl):
            events.record(SENT, inviter, client, again=True, **described(invitation))
    return invitation


def cancel(person: Person, session: Session, invitation_id: str, client: Client) -> None:
    """Cancel a pending invitation. Raises `InvitationNotFound`, `Forbidden` (it was sent by another
    user), `InvitationNotPending` or `InvalidToken`."""
    with sessions.changing(person, session) as inviter:
        invitation = _own(inviter, invitation_id)
        closing.cancel(invitation)
        events.record(CANCELLED, inviter, client, **described(invitation))


def may_invite(person: Person) -> bool:
    """Whether `INVITATION.WHO_MAY_INVITE` allows it to this user."""
    return chosen.allows(conf.who_may_invite, person)


def require_resendable(invitation: PlatformInvitation) -> None:
    """Raises `InvitationNotPending`; for an expired invitation also what `invite` would raise now.

    Call it in a transaction that has locked the sender.
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


def _require_sender(person: Person) -> None:
    if not may_invite(person):
        raise errors.Forbidden


def _require_valid(wanted: NewInvitation) -> None:
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    if not identifiers.is_new_email(wanted.email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)
    allowed = conf.allowed_purposes
    if allowed and wanted.purpose not in allowed:
        raise errors.invalid("purpose", one_of(allowed))


def _require_no_other(inviter_id: Any, email_key: str, purpose: str) -> None:
    """The locked row of the inviter serialises concurrent requests."""
    rows = PlatformInvitation.objects.pending().filter(email_key=email_key, purpose=purpose)
    if rows.filter(inviter=inviter_id).exists():
        raise errors.InvitationAlreadyExists


def _require_room(email_key: str) -> None:
    """Two senders may invite an address at once. A counter of the address is their lock: its
    statement waits for the other transaction, so the second sees the invitation of the first."""
    if not conf.max_pending_per_email:
        return
    attempt_counter.try_consume(attempt_counter.key("invited", email_key), _LOCK)
    if _pending(email_key) >= conf.max_pending_per_email:
        raise errors.InvitationMaxPending


def _pending(email_key: str) -> int:
    count: int = PlatformInvitation.objects.pending().filter(email_key=email_key).count()
    return count


def _own(inviter: Person, invitation_id: str) -> PlatformInvitation:
    found = _find(invitation_id)
    if found is None:
        raise errors.InvitationNotFound
    if found.inviter_id != inviter.user.pk:
        raise errors.Forbidden
    return found


def _find(text: str) -> PlatformInvitation | None:
    try:
        pk = UUID(text)
    except ValueError:
        return None
    found: PlatformInvitation | None = PlatformInvitation.objects.filter(pk=pk).first()
    return found if str(pk) == text else None  # only the canonical form is an id
