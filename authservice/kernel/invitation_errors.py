"""Errors about invitations. Import them from `kernel/errors.py`."""

from __future__ import annotations

from authservice.kernel.faults import Fault


class InvitationNotFound(Fault):
    status = 404
    code = "INVITATION_NOT_FOUND"
    message = "The invitation does not exist."
    cause = (
        "The id or the token of the invitation is unknown, a newer mail replaced its link, or the"
        " user who sent it was deleted."
    )
    remedy = "Use the link of the newest mail, or ask the sender for another invitation."


class InvitationNotPending(Fault):
    code = "INVITATION_NOT_PENDING"
    message = "The invitation is no longer pending."
    cause = (
        "The invitation was accepted, declined or cancelled, it expired before it was cancelled,"
        " or the user who sent it may no longer invite."
    )
    remedy = "Ask the sender for another invitation. If you accepted it before, log in."


class InvitationExpired(Fault):
    code = "INVITATION_EXPIRED"
    message = "The invitation has expired."
    cause = "The invitation was valid, but is too old."
    remedy = "Ask the sender to send it again."


class InvitationAlreadyExists(Fault):
    status = 409
    code = "INVITATION_ALREADY_EXISTS"
    message = "There is already a pending invitation for this address."
    cause = "A pending invitation of the same sender, address and purpose exists."
    remedy = "Send the existing invitation again, or cancel it first."


class InvitationMaxPending(Fault):
    status = 403
    code = "INVITATION_MAX_PENDING"
    message = "This address has too many pending invitations."
    cause = (
        "The address has as many pending invitations as `INVITATION.MAX_PENDING_PER_EMAIL` allows."
    )
    remedy = "Wait until the recipient answers or an invitation expires."
