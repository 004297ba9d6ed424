"""The errors of this module. Those of both kinds of invitation are in `core/errors.py`."""

from __future__ import annotations

from authservice.kernel.errors import Fault


class InvitationMaxPending(Fault):
    status = 403
    code = "INVITATION_MAX_PENDING"
    message = "This address has too many pending invitations."
    cause = (
        "The address has as many pending invitations as `INVITATION.MAX_PENDING_PER_EMAIL` allows."
    )
    remedy = "Wait until the recipient answers or an invitation expires."
