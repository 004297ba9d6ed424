"""App configuration of the invitation module."""

from __future__ import annotations

from authservice.kernel import modules


class InvitationConfig(modules.ModuleConfig):
    name = "authservice.invitation"
    label = "authservice_invitation"
    verbose_name = "Invitations"
    urls = "authservice.invitation.urls"
    message_builders = "authservice.invitation.messages.message_builders"
    expired_rows = "authservice.invitation.lists.expired_rows"
    support = "authservice.invitation.support.support"

    def ready(self) -> None:
        from authservice.invitation import checks

        checks.connect()
