"""Invite to an organization, send an invitation again and cancel it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.invitations import closing, mailing
from authservice.core.invitations.models import Status
from authservice.core.messages import counting
from authservice.core.models import Session
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events, message_queue, text_search
from authservice.kernel.client import Client
from authservice.kernel.paging import Page
from authservice.organization import access, members
from authservice.organization import errors as org_errors
from authservice.organization.access import Actor
from authservice.organization.conf import conf
from authservice.organization.messages import KIND
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.organization.roles import Permission

SENT, CANCELLED = "org.invitation.sent", "org.invitation.cancelled"
# The sort fields of the lists, and their columns.
SORT_FIELDS = {
    "created_at": "created_at",
    "expires_at": "expires_at",
    "email": "email",
    "role": "role",
    "status": "shown_status",
}


def invite(
    caller: Person, session: Session, client: Client, org_id: str, *, email: str, role: str
) -> OrganizationInvitation:
    """Invite an address and mail it a link.

    Raises as `access.acting` does, `InsufficientRole` if the caller's role does not manage `role`,
    `ValidationFailed`, `AlreadyAMember`, `TooManyMembers`, `InvitationAlreadyExists`,
    `EmailNotConfigured` and `TooManyRequests`.
    """
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    if not identifiers.is_new_email(email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        actor.require_manages(role)
        key = identifiers.email_key(email)
        require_free(actor.organization, key)
        counting.count_invitation(actor.person)
        invitation: OrganizationInvitation = OrganizationInvitation.objects.create(
            organization=actor.organization,
            email=email,
            email_key=key,
            role=role,
            inviter=actor.person.user,
            expires_at=timezone.now() + conf.invitation_ttl,
        )
        _record(SENT, actor, invitation, client)
        mailing.send(invitation, KIND, client, ttl=conf.invitation_ttl)
    return invitation


def resend(
    caller: Person, session: Session, client: Client, org_id: str, invitation_id: str
) -> OrganizationInvitation:
    """Mail another link for a pending or expired invitation; the caller is its inviter from now on.

    The previous link ends and the expiry is renewed; beyond a limit on mails nothing changes.
    Raises as `cancel` does, and as `invite` does except for its input.
    """
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        invitation = _find(actor, invitation_id)
        if invitation.status != Status.PENDING:
            raise errors.InvitationNotPending
        require_free(actor.organization, invitation.email_key, besides=invitation)
        before, invitation.inviter_id = invitation.inviter_id, actor.person.user.pk
        if mailing.send(invitation, KIND, client, ttl=conf.invitation_ttl):
            rows = OrganizationInvitation.objects.filter(pk=invitation.pk)
            rows.update(inviter=actor.person.user)
            _record(SENT, actor, invitation, client, again=True)
        else:
            invitation.inviter_id = before
    return invitation


def cancel(
    caller: Person, session: Session, client: Client, org_id: str, invitation_id: str
) -> None:
    """Cancel a pending invitation.

    Raises as `access.acting` does, `InvitationNotFound`, `InsufficientRole` if the caller's role
    does not manage the role in it, and `InvitationNotPending`.
    """
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        invitation = _find(actor, invitation_id)
        closing.cancel(invitation)
        _record(CANCELLED, actor, invitation, client)


def page_of(
    organization: Organization, page: Page, *, status: str = "", query: str = ""
) -> tuple[list[OrganizationInvitation], int]:
    """The invitations of an organization on a page, and the total over all pages; `query` is a part
    of the address."""
    rows = OrganizationInvitation.objects.filter(organization=organization)
    if status:
        rows = rows.with_status(status)
    if query:
        rows = rows.filter(text_search.containing(query, "email", using=databases.primary()))
    in_order = rows.with_shown_status().order_by(*page.order(SORT_FIELDS[page.sort_field]))
    return list(page.cut(in_order)), rows.count()


def pending_for(person: Person, page: Page) -> tuple[list[OrganizationInvitation], int]:
    """The pending invitations for the user's address, verified or not, with their organizations."""
    if not person.email:
        return [], 0
    rows = OrganizationInvitation.objects.pending().filter(
        email_key=person.email_key, organization__active=True
    )
    in_order = rows.select_related("organization").with_shown_status()
    cut = page.cut(in_order.order_by(*page.order(SORT_FIELDS[page.sort_field])))
    return list(cut), rows.count()


def expired_rows() -> dict[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    over = OrganizationInvitation.objects.over_since(timezone.now() - conf.invitations_kept)
    return {"invitations to organizations": over}


def require_free(
    organization: Organization, email_key: str, *, besides: OrganizationInvitation | None = None
) -> None:
    """Raises `AlreadyAMember`, `TooManyMembers`, and `InvitationAlreadyExists` if an invitation
    other than `besides` is pending.

    Call it under the lock of the organization, so that one of several requests invites.
    """
    joined = Membership.objects.filter(organization=organization)
    if joined.filter(user__authservice_account__email_key=email_key).exists():
        raise org_errors.AlreadyAMember
    members.require_room(organization)
    pending = OrganizationInvitation.objects.pending().filter(
        organization=organization, email_key=email_key
    )
    if pending.exclude(pk=besides.pk if besides else None).exists():
        raise errors.InvitationAlreadyExists


def described(invitation: OrganizationInvitation) -> dict[str, Any]:
    """The metadata of audit entries."""
    return {
        "invitation": str(invitation.pk),
        "organization": str(invitation.organization_id),
        "email": invitation.email,
        "role": invitation.role,
    }


def _find(actor: Actor, invitation_id: str) -> OrganizationInvitation:
    key, rows = access.parse_id(invitation_id), OrganizationInvitation.objects
    found: OrganizationInvitation | None = (
        rows.filter(organization=actor.organization, pk=key).first() if key else None
    )
    if found is None:
        raise errors.InvitationNotFound
    actor.require_manages(found.role)
    return found


def _record(
    action: str,
    actor: Actor,
    invitation: OrganizationInvitation,
    client: Client,
    **metadata: Any,
) -> None:
    organization = actor.organization
    described_ = {**described(invitation), **metadata}
    events.record(action, actor.person, client, target=organization, **described_)
