"""Invitations in recoveries: those that an intruder sent in the name of the user end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from django.db.models import Q

from authservice.core.invitations import closing
from authservice.core.invitations.closing import Row
from authservice.core.users.person import Person
from authservice.kernel import errors


def cancel_sent_by(
    person: Person,
    model: type[Row],
    record: Callable[[Row], None],
    *,
    since: datetime | None,
    ttl: timedelta,
) -> None:
    """Cancel the pending invitations that the user sent, or sent again, since `since`; None means
    all. `record` gets each cancelled one. `ttl` is how long an invitation is valid."""
    inviter = person.user.pk
    rows = model.objects.pending().filter(inviter=inviter)
    if since is not None:
        rows = rows.filter(Q(created_at__gte=since) | Q(expires_at__gte=since + ttl))
    for invitation in rows.order_by("pk"):
        # It may have been answered, or sent again by another user, at the same moment.
        with suppress(errors.InvitationNotPending):
            closing.cancel(invitation, inviter=inviter)
            record(invitation)
