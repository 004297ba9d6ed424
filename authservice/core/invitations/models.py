"""The abstract model of an invitation: who invited which address, until when, with what result."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Value, When

from authservice.kernel import clock
from authservice.kernel.databases import PrimaryManager
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import phrase

_KEY = 64  # hex characters of a SHA-256
# Of the address of a recipient, in the export of data.
KEPT_BY_SENDER = phrase("Kept for its sender, until some time after it was accepted or expired.")


class Status(models.TextChoices):
    """The status of an invitation. `EXPIRED` is never stored: the row stays `PENDING`, and
    `expires_at` has passed."""

    PENDING = "pending", _("pending")
    ACCEPTED = "accepted", _("accepted")
    DECLINED = "declined", _("declined")
    CANCELLED = "cancelled", _("cancelled")
    EXPIRED = "expired", _("expired")


Row = TypeVar("Row", bound="Invitation")


class InvitationQuerySet(models.QuerySet[Row]):
    def pending(self) -> InvitationQuerySet[Row]:
        """The invitations that can still be accepted."""
        return self.filter(status=Status.PENDING, expires_at__gt=clock.now())

    def with_status(self, status: str) -> InvitationQuerySet[Row]:
        """The invitations whose current status, by the clock, is `status`."""
        if status == Status.PENDING:
            return self.pending()
        if status == Status.EXPIRED:
            return self.filter(status=Status.PENDING, expires_at__lte=clock.now())
        return self.filter(status=status)

    def with_shown_status(self) -> Any:
        """Add the current status as `shown_status`, to sort by."""
        expired = When(
            status=Status.PENDING, expires_at__lte=clock.now(), then=Value(Status.EXPIRED)
        )
        shown = Case(expired, default=F("status"), output_field=models.CharField())
        return self.annotate(shown_status=shown)

    def over_since(self, moment: datetime) -> InvitationQuerySet[Row]:
        """The invitations that were closed or expired before `moment`, for the cleanup."""
        expired = Q(status=Status.PENDING, expires_at__lte=moment)
        return self.filter(Q(closed_at__lte=moment) | expired)


class Invitation(models.Model):
    """An invitation of one e-mail address.

    The worker that mails the link issues its token; the row stores a keyed digest. `mail_number`
    counts the mails: a job with an older number sends nothing. `recipient_version` and
    `recipient_fingerprint` are the token version and the password of the recipient's account when
    the link was mailed; 0 and None if the address had no account. Both are None before the first
    mail. A concrete model adds a unique constraint on `token_digest`, indexes, and `TOKEN_PURPOSE`,
    which is part of the digest: a token of one kind of invitation is unknown to the other.
    """

    TOKEN_PURPOSE: ClassVar[str]

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    email = models.CharField(max_length=254, verbose_name=_("e-mail address"))
    email_key = models.CharField(max_length=_KEY, editable=False)
    inviter = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("invited by"),
    )
    inviter_id: Any
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.PENDING, verbose_name=_("status")
    )
    token_digest = models.CharField(max_length=_KEY, null=True, editable=False)  # noqa: DJ001
    mail_number = models.PositiveIntegerField(default=0, editable=False)
    recipient_version = models.PositiveIntegerField(null=True, editable=False)
    recipient_fingerprint = models.CharField(  # noqa: DJ001
        max_length=_KEY, null=True, editable=False
    )
    created_at = models.DateTimeField(default=clock.now, verbose_name=_("created"))
    expires_at = models.DateTimeField(verbose_name=_("expires"))
    closed_at = models.DateTimeField(null=True, blank=True, verbose_name=_("closed"))

    objects: ClassVar[Any] = PrimaryManager.from_queryset(InvitationQuerySet)()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.email

    @property
    def current_status(self) -> str:
        """The status by the clock."""
        if self.status == Status.PENDING and self.expires_at <= clock.now():
            return Status.EXPIRED.value
        return str(self.status)
