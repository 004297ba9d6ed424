"""The mail with the link of an invitation; the worker creates it, like every message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from authservice.core.invitations import mailing
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import lookup
from authservice.kernel.message_queue import Message
from authservice.kernel.sections import frontend
from authservice.organization.models import Organization, OrganizationInvitation

KIND = "org-invitation"
# Mail programs turn such texts into links: a name must not lead to a page of an attacker.
_LINKS = re.compile(r"[/:@\\]|\.\w|[^ -~\w]|www", re.IGNORECASE)
_LONGEST = 64


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
    """The name, or the slug if an attacker could use the name for a text of their own."""
    name = organization.name
    return organization.slug if len(name) > _LONGEST or _LINKS.search(name) else name
