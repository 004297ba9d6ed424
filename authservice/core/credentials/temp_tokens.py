"""Attempts at the codes of one temp_token: after five it is no longer accepted."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from authservice.core.models import OneTimeToken
from authservice.kernel import errors

TRIES = 5


def count_attempt(issued: OneTimeToken) -> None:
    """Count one attempt at the code of a temp_token, before the code is compared.

    Raises `TooManyAttempts` if none is left, `InvalidLink` if another request has spent the token
    since it was read. Must not be called within a transaction that a refusal would roll back.
    """
    left = OneTimeToken.objects.filter(pk=issued.pk, spent_at=None, attempts__lt=TRIES)
    if left.update(attempts=F("attempts") + 1):
        return
    if not OneTimeToken.objects.filter(pk=issued.pk, spent_at=None).exists():
        raise errors.InvalidLink
    seconds = int((issued.expires_at - timezone.now()).total_seconds())
    raise errors.TooManyAttempts(headers={"Retry-After": str(max(seconds, 0) + 1)})


def refund(issued: OneTimeToken) -> None:
    """Give back an attempt that succeeded."""
    rows = OneTimeToken.objects.filter(pk=issued.pk, attempts__gt=0)
    rows.update(attempts=F("attempts") - 1)
