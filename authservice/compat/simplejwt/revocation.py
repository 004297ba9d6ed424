"""Blocks the refresh tokens of simplejwt whose users lose all sessions here.

Somebody who resets a stolen password, or enables a second factor, ends every session. The attacker
must not keep a token that the old package, or a trade, still accepts.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken
from rest_framework_simplejwt.utils import aware_utcnow

from authservice.compat.simplejwt.trade import blocked, is_installed, outstanding

_BATCH = 1000


def revoke(users: Collection[Any] | None, before: datetime | None) -> None:
    """Fills the slot `revoke_foreign_tokens`."""
    if not is_installed():
        return
    # Skip expired tokens: they are refused in any case, and simplejwt's command deletes their rows.
    rows = outstanding().filter(blacklistedtoken=None, expires_at__gt=aware_utcnow())
    if users is not None:
        rows = rows.filter(user__in=users)
    if before is not None:
        rows = rows.filter(created_at__lt=_as_simplejwt_stores(before))
    pks, last = rows.order_by("pk").values_list("pk", flat=True), 0
    while batch := list(pks.filter(pk__gt=last)[:_BATCH]):
        rows_of_batch = [BlacklistedToken(token_id=pk) for pk in batch]
        # Another request may have blocked or traded one in the meantime.
        blocked().bulk_create(rows_of_batch, ignore_conflicts=True)
        last = batch[-1]


def _as_simplejwt_stores(moment: datetime) -> datetime:
    if settings.USE_TZ or timezone.is_aware(moment):
        return moment
    return timezone.make_aware(moment).astimezone(UTC).replace(tzinfo=None)
