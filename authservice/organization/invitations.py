"""Invitations to an organization: its members send, repeat and cancel them, their recipient accepts
or declines with the link."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.invitations import acceptance, closing, mailing
from authservice.core.invitations.acceptance import Accepted, Profile
from authservice.core.invitations.closing import InvitationAccess
from authservice.core.invitations.models import Status
from authservice.core.messages import counting
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.sessions.bearer import Caller
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue, sql
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.message_queue import Message
from authservice.kernel.paging import Page
from authservice.kernel.secret import Secret
from authservice.kernel.sections import frontend
from authservice.organization import access, members, organizations, roles
from authservice.organization import errors as org_errors
from authservice.organization.access import Actor
from authservice.organization.conf import conf
from authservice.organization.errors import OrganizationNotFound
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.organization.organizations import INVITATION as METHOD
from authservice.organization.roles import Permission

KIND = "org-invitation"
# Mail programs turn such texts into links: a name must not lead to a page of an attacker.
_LINKS = re.compile(r"[/:@\\]|\.\w|[^ -~\w]|www", re.IGNORECASE)
_LONGEST = 64
SENT, CANCELLED = "org.invitation.sent", "org.invitation.cancelled"
# The sort fields of the lists, and their columns.
SORT_FIELDS = {
    "created_at": "created_at",
    "expires_at": "expires_at",
    "email": "email",
    "role": "role",
    "status": "shown_status",
}
ACCEPTED, DECLINED = "org.invitation.accepted", "org.invitation.declined"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    invitation = mailing.find_for(message, OrganizationInvitation)
    inviter = lookup.find_by_pk(invitation.inviter_id) if invitation else None
    if inviter is None or not inviter.active or not invitation.organization.active:
        return None
    shown = {
        # An address that its owner has verified, never a name: a user may choose any text as one.
        "inviter": inviter.email if inviter.email_verified else "",
        "organization": _shown(invitation.organization),
        "role": invitation.role,
    }
    return mailing.compose(message, invitation, frontend.org_invitation_path, shown)


def _shown(organization: Organization) -> str:
    """The name in quotation marks, since any user may choose a sentence as one and invite people
    who do not know them; or the slug if the name could pass for a link."""
    name = organization.name.replace('"', "'")
    return f'"{organization.slug if len(name) > _LONGEST or _LINKS.search(name) else name}"'


def invite(
    caller: Person, session: Session, client: Client, org_id: str, *, email: str, role: str
) -> tuple[OrganizationInvitation, bool]:
    """Invite an address and mail it a link. Returns the invitation, and whether a mail is sent: not
    if its recipient gets no more today.

    Raises as `access.acting` does, `InsufficientRole` if the caller's role does not manage `role`,
    `ValidationFailed`, `AlreadyAMember`, `TooManyMembers`, `InvitationAlreadyExists`,
    `EmailNotConfigured` and `TooManyRequests`.
    """
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    if not identifiers.is_new_email(email):
        raise invalid("email", identifiers.NEW_EMAIL_RULE)
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
            expires_at=clock.now() + conf.invitation_ttl,
        )
        mailed = mailing.send(
            invitation, KIND, client, sender=actor.person, ttl=conf.invitation_ttl
        )
        _record(SENT, actor, invitation, client, **({} if mailed else {"mailed": False}))
    return invitation, mailed


def resend(
    caller: Person, session: Session, client: Client, org_id: str, invitation_id: str
) -> tuple[OrganizationInvitation, bool]:
    """Mail another link for a pending or expired invitation; the caller is its inviter from now on.

    The previous link ends and the expiry is renewed. Returns the same as `invite`; without a mail
    nothing changes.
    Raises as `cancel` does, and as `invite` does except for its input.
    """
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        invitation = _find(actor, invitation_id)
        if invitation.status != Status.PENDING or invitation.role not in roles.table():
            raise errors.InvitationNotPending  # nobody could accept it
        require_free(actor.organization, invitation.email_key, besides=invitation)
        mailed = mailing.send(
            invitation, KIND, client, sender=actor.person, ttl=conf.invitation_ttl
        )
        if mailed:
            invitation.inviter_id = actor.person.user.pk
            rows = OrganizationInvitation.objects.filter(pk=invitation.pk)
            rows.update(inviter=actor.person.user)
            _record(SENT, actor, invitation, client, again=True)
    return invitation, mailed


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
        rows = rows.filter(sql.containing(query, "email", using=databases.primary()))
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


@clock.once
def expired_rows() -> dict[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    over = OrganizationInvitation.objects.over_since(clock.now() - conf.invitations_kept)
    return {"invitations to organizations": over, "former slugs": organizations.expired_rows()}


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


def _record_recovery(person: Person, invitation: OrganizationInvitation) -> None:
    known, target = described(invitation), invitation.organization
    events.record(CANCELLED, person, Client(), target=target, reason="recovery", **known)


account_access = InvitationAccess(
    OrganizationInvitation, record=_record_recovery, ttl=lambda: conf.invitation_ttl
)


def accept(
    token: Secret,
    profile: Profile,
    client: Client,
    *,
    caller: Caller | None,
    refresh_token: Secret,
) -> Accepted[Membership]:
    """Accept, join and sign in.

    Raises as `closing.find` and `acceptance.accept` do, `AlreadyAMember`, `TooManyMembers`, and
    `InvitationNotPending` if the inviter may not invite with this role any more.
    """
    invitation = closing.find(OrganizationInvitation, token, client)
    return acceptance.accept(
        invitation,
        profile,
        client,
        caller=caller,
        refresh_token=refresh_token,
        join=partial(_join, invitation, client),
        lock=partial(_lock, invitation),
        method=METHOD,
    )


def describe(token: Secret, client: Client) -> dict[str, Any]:
    """What the page of the link shows: the address, whether it has an account, the organization
    and the role.
    Raises as `closing.find` does, and `InvitationNotFound` if the organization is gone."""
    invitation = closing.find(OrganizationInvitation, token, client)
    if not invitation.organization.active:
        raise errors.InvitationNotFound
    shown = {"organization": invitation.organization.name, "role": invitation.role}
    return {**acceptance.describe(invitation), **shown}


def decline(token: Secret, client: Client) -> None:
    """Decline. The recorded actor is the account of the address, if there is one. Raises as
    `closing.find` does, and `InvitationNotFound` if the organization is gone."""
    invitation = closing.find(OrganizationInvitation, token, client)
    with transaction.atomic(using=databases.primary()):
        _lock(invitation)
        closing.close(invitation, Status.DECLINED)
        recipient = lookup.find_by_email(invitation.email)
        target = invitation.organization
        events.record(DECLINED, recipient, client, target=target, **described(invitation))


def may_still_invite(invitation: OrganizationInvitation) -> bool:
    """Whether the inviter is active, and a member whose role manages the role to give, which still
    exists. The row may have got another inviter since it was read."""
    if invitation.role not in roles.table():
        return False
    rows = OrganizationInvitation.objects.filter(pk=invitation.pk)
    inviter = lookup.find_by_pk(rows.values_list("inviter_id", flat=True).first())
    if inviter is None or not inviter.active:
        return False
    own = Membership.objects.filter(organization=invitation.organization_id, user=inviter.user.pk)
    role = own.values_list("role", flat=True).first() or ""
    return roles.permits(role, Permission.INVITE) and roles.manages(role, invitation.role)


def _lock(invitation: OrganizationInvitation) -> None:
    try:
        access.lock(invitation.organization_id)
    except OrganizationNotFound as wrong:  # deleted or inactive
        raise errors.InvitationNotFound from wrong


def _join(invitation: OrganizationInvitation, client: Client, person: Person) -> Membership:
    organization = invitation.organization
    if not may_still_invite(invitation):
        raise errors.InvitationNotPending
    joined = members.add(organization, person.user, invitation.role)
    known = described(invitation)
    events.record(ACCEPTED, person, client, target=organization, **known)
    events.record("org.member.added", person, client, target=person.user, **known)
    return joined
