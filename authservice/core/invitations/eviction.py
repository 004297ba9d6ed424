"""Invitations in recoveries: those that an intruder sent in the name of the user end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

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
    rows = model.objects.pending().filter(inviter=person.user.pk)
    if since is not None:
        rows = rows.filter(expires_at__gte=since + ttl)
    for invitation in rows.order_by("pk"):
        with suppress(errors.InvitationNotPending):  # answered at the same moment
            closing.cancel(invitation)
            record(invitation)
