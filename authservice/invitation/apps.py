"""App configuration of the invitation module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class InvitationConfig(modules.ModuleConfig):
    name = "authservice.invitation"
    label = "authservice_invitation"
    verbose_name = admin_text("Invitations")
    urls = "authservice.invitation.urls"
    message_builders = "authservice.invitation.messages.message_builders"
    revoke_unverified_access = "authservice.invitation.eviction.revoke_unverified"
    revoke_recent_access = "authservice.invitation.eviction.revoke_recent"
    fingerprint_rows = "authservice.invitation.models.PlatformInvitation"
    expired_rows = "authservice.invitation.lists.expired_rows"
    support = "authservice.invitation.support.support"

    def ready(self) -> None:
        from authservice.invitation import checks

        checks.connect()
