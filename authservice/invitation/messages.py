"""The e-mail with the link; the worker creates it, like every message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from authservice.core.invitations import mailing
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import lookup
from authservice.invitation.models import PlatformInvitation
from authservice.kernel.message_queue import Message
from authservice.kernel.sections import frontend

KIND = "invitation"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    invitation = mailing.find_for(message, PlatformInvitation)
    inviter = lookup.find_by_pk(invitation.inviter_id) if invitation else None
    if inviter is None or not inviter.active:
        return None
    # An address that its owner has verified, never a name: a user may choose any text as a name.
    shown = {"inviter": inviter.email if inviter.email_verified else ""}
    return mailing.compose(message, invitation, frontend.invitation_path, shown)
