"""The table of invitations to the service."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from authservice.core.invitations.models import Invitation
from authservice.invitation.conf import PURPOSE_LENGTH
from authservice.kernel.languages import admin_text as _

# Characters: the default of `INVITATION.METADATA_MAX`, for when the settings cannot be read.
METADATA_LENGTH = 2048


class PlatformInvitation(Invitation):
    """An invitation to the service. `purpose` and `metadata` belong to the host project: the
    service stores them and gives them no meaning."""

    TOKEN_PURPOSE = "invitation"  # noqa: S105 the name of a purpose, not a secret

    purpose = models.CharField(max_length=PURPOSE_LENGTH, verbose_name=_("purpose"))
    metadata = models.TextField(blank=True, default="", verbose_name=_("metadata"))

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["token_digest"], name="authsvc_invitation_token"),
        ]
        indexes: ClassVar = [
            # The list of a sender, in its default order.
            models.Index(fields=["inviter", "created_at", "id"], name="authsvc_invitation_sent"),
            models.Index(fields=["email_key", "status"], name="authsvc_invitation_email"),
            # The cleanup.
            models.Index(fields=["closed_at"], name="authsvc_invitation_closed"),
            models.Index(fields=["status", "expires_at"], name="authsvc_invitation_expires"),
        ]
