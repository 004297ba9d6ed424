"""Invitations to an organization: members send, resend and cancel them, and the recipient accepts
or declines one with the link in the mail."""

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
from authservice.core.messages import sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.sessions.bearer import Caller
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue, sql
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.interfaces import Page
from authservice.kernel.message_queue import Message
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
# Characters of a name in a mail.
_LONGEST = 64
# Actions of the audit log.
SENT, CANCELLED = "org.invitation.sent", "org.invitation.cancelled"
ACCEPTED, DECLINED = "org.invitation.accepted", "org.invitation.declined"
# The sort fields of the lists, and their columns.
SORT_FIELDS = {
    "created_at": "created_at",
    "expires_at": "expires_at",
    "email": "email",
    "role": "role",
    "status": "shown_status",
}


def invite(
    caller: Person,
    session: Session,
    client: Client,
    org_id: str,
    *,
    email: str,
    role: str,
    prove: Callable[[], None],
) -> tuple[OrganizationInvitation, bool]:
    """Invite an address and mail it a link. Returns the invitation, and whether a mail is sent: not
    if the recipient gets no more mails today. `prove` is called before an owner is invited, and may
    raise.

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
        if role == roles.OWNER:
            prove()
        key = identifiers.email_key(email)
        require_free(actor.organization, key)
        sending.count_invitation(actor.person)
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
    caller: Person,
    session: Session,
    client: Client,
    org_id: str,
    invitation_id: str,
    *,
    prove: Callable[[], None],
) -> tuple[OrganizationInvitation, bool]:
    """Mail another link for a pending or expired invitation; the caller becomes its inviter.

    The previous link ends and the expiry is renewed. Returns the invitation, and whether a mail is
    sent; if none is sent, nothing changes. `prove` is as in `invite`.

    Raises as `cancel` does, and as `invite` does, but for `ValidationFailed`.
    """
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        invitation = _find(actor, invitation_id)
        if invitation.status != Status.PENDING or invitation.role not in roles.table():
            raise errors.InvitationNotPending  # nobody could accept it
        if invitation.role == roles.OWNER:
            prove()
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
    does not manage the role of the invitation, and `InvitationNotPending`.
    """
    with access.acting(caller, session, org_id, Permission.INVITE) as actor:
        invitation = _find(actor, invitation_id)
        closing.cancel(invitation)
        _record(CANCELLED, actor, invitation, client)


def require_free(
    organization: Organization, email_key: str, *, besides: OrganizationInvitation | None = None
) -> None:
    """Require that the address can be invited. Raises `AlreadyAMember`, `TooManyMembers`, and
    `InvitationAlreadyExists` if the address has a pending invitation other than `besides`.

    Call this function under the lock of the organization: of several concurrent requests for one
    address, only the first invites it.
    """
    memberships = Membership.objects.filter(organization=organization)
    if memberships.filter(user__authservice_account__email_key=email_key).exists():
        raise org_errors.AlreadyAMember
    members.require_room(organization)
    pending = OrganizationInvitation.objects.pending().filter(
        organization=organization, email_key=email_key
    )
    if pending.exclude(pk=besides.pk if besides else None).exists():
        raise errors.InvitationAlreadyExists


def _find(actor: Actor, invitation_id: str) -> OrganizationInvitation:
    key = access.parse_id(invitation_id)
    rows = OrganizationInvitation.objects
    invitation: OrganizationInvitation | None = (
        rows.filter(organization=actor.organization, pk=key).first() if key else None
    )
    if invitation is None:
        raise errors.InvitationNotFound
    actor.require_manages(invitation.role)
    return invitation


def _record(
    action: str,
    actor: Actor,
    invitation: OrganizationInvitation,
    client: Client,
    **metadata: Any,
) -> None:
    organization = actor.organization
    entry = {**described(invitation), **metadata}
    events.record(action, actor.person, client, target=organization, **entry)


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


def accept(
    token: Secret,
    profile: Profile,
    client: Client,
    *,
    caller: Caller | None,
    visitor: Person | None,
    refresh_token: Secret,
) -> Accepted[Membership]:
    """Accept an invitation: the recipient joins the organization and is signed in.

    Raises as `closing.find` and `acceptance.accept` do, `AlreadyAMember`, `TooManyMembers`, and
    `InvitationNotPending` if the inviter may not invite with this role any more.
    """
    invitation = closing.find(OrganizationInvitation, token, client)
    return acceptance.accept(
        invitation,
        profile,
        client,
        caller=caller,
        visitor=visitor,
        refresh_token=refresh_token,
        join=partial(_join, invitation, client),
        lock=partial(_lock, invitation),
        method=METHOD,
    )


def _join(invitation: OrganizationInvitation, client: Client, person: Person) -> Membership:
    organization = invitation.organization
    if not may_still_invite(invitation):
        raise errors.InvitationNotPending
    membership = members.add(organization, person.user, invitation.role)
    metadata = described(invitation)
    events.record(ACCEPTED, person, client, target=organization, **metadata)
    events.record("org.member.added", person, client, target=person.user, **metadata)
    return membership


def may_still_invite(invitation: OrganizationInvitation) -> bool:
    """Whether the role of the invitation still exists, and the inviter is an active member whose
    role may invite and manages that role. The inviter is read again: another member may have
    resent the invitation since `invitation` was read."""
    if invitation.role not in roles.table():
        return False
    rows = OrganizationInvitation.objects.filter(pk=invitation.pk)
    inviter = lookup.find_by_pk(rows.values_list("inviter_id", flat=True).first())
    if inviter is None or not inviter.active:
        return False
    memberships = Membership.objects.filter(
        organization=invitation.organization_id, user=inviter.user.pk
    )
    role = memberships.values_list("role", flat=True).first() or ""
    return roles.permits(role, Permission.INVITE) and roles.manages(role, invitation.role)


def describe(token: Secret, client: Client) -> dict[str, Any]:
    """What the page of the link shows: the address, whether it has an account, the organization
    and the role.

    Raises as `closing.find` does, and `InvitationNotFound` if the organization is not active.
    """
    invitation = closing.find(OrganizationInvitation, token, client)
    if not invitation.organization.active:
        raise errors.InvitationNotFound
    details = {"organization": invitation.organization.name, "role": invitation.role}
    return {**acceptance.describe(invitation), **details}


def decline(token: Secret, client: Client) -> None:
    """Decline an invitation. The recorded actor is the account of the address, if there is one.

    Raises as `closing.find` does, and `InvitationNotFound` if the organization is not active.
    """
    invitation = closing.find(OrganizationInvitation, token, client)
    with transaction.atomic(using=databases.primary()):
        _lock(invitation)
        closing.close(invitation, Status.DECLINED)
        recipient = lookup.find_by_email(invitation.email)
        organization = invitation.organization
        events.record(DECLINED, recipient, client, target=organization, **described(invitation))


def _lock(invitation: OrganizationInvitation) -> None:
    try:
        access.lock(invitation.organization_id)
    except OrganizationNotFound as error:  # deleted or inactive
        raise errors.InvitationNotFound from error


def described(invitation: OrganizationInvitation) -> dict[str, Any]:
    """The metadata of audit entries about an invitation."""
    return {
        "invitation": str(invitation.pk),
        "organization": str(invitation.organization_id),
        "email": invitation.email,
        "role": invitation.role,
    }


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    """The mail of a job; None if the invitation is no longer pending, or if its inviter or its
    organization is not active."""
    invitation = mailing.find_for(message, OrganizationInvitation)
    inviter = lookup.find_by_pk(invitation.inviter_id) if invitation else None
    if inviter is None or not inviter.active or not invitation.organization.active:
        return None
    organization = invitation.organization
    # The mail shows the name in quotation marks, since any user may choose a sentence as the name
    # and invite people who do not know them. It shows the slug instead of a name that is long or
    # could pass for a link.
    name = organization.name.replace('"', "'")
    if len(name) > _LONGEST or _LINKS.search(name):
        name = organization.slug
    variables = {
        # A verified address or nothing, never the user's name: a user may choose any text as name.
        "inviter": inviter.email if inviter.email_verified else "",
        "organization": f'"{name}"',
        "role": invitation.role,
    }
    return mailing.compose(message, invitation, frontend.org_invitation_path, variables)


@clock.once
def expired_rows() -> dict[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    old_invitations = OrganizationInvitation.objects.over_since(clock.now() - conf.invitations_kept)
    return {
        "invitations to organizations": old_invitations,
        "former slugs": organizations.expired_rows(),
    }


def _record_recovery(person: Person, invitation: OrganizationInvitation) -> None:
    """Called for each invitation of the user that `account_access` cancels."""
    metadata, organization = described(invitation), invitation.organization
    events.record(CANCELLED, person, Client(), target=organization, reason="recovery", **metadata)


account_access = InvitationAccess(
    OrganizationInvitation, record=_record_recovery, ttl=lambda: conf.invitation_ttl
)
