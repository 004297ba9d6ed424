"""App configuration of the invitation module."""

from __future__ import annotations

from authservice import signals
from authservice.kernel import modules
from authservice.kernel.actions import ANYBODY, Action
from authservice.kernel.languages import admin_text


class InvitationConfig(modules.ModuleConfig):
    name = "authservice.invitation"
    label = "authservice_invitation"
    verbose_name = admin_text("Invitations")
    views = "authservice.invitation.views"
    message_builders = "authservice.invitation.platform_invitations.message_builders"
    account_access = "authservice.invitation.platform_invitations.account_access"
    expired_rows = "authservice.invitation.platform_invitations.expired_rows"
    support = "authservice.invitation.support.support"

    actions = {
        "invitation.sent": Action(
            "An invitation was sent.",
            actors=ANYBODY,
            when="A user invites an address, or the mail is sent again, also by staff.",
            signal=signals.invitation_sent,
        ),
        "invitation.accepted": Action(
            "An invitation was accepted.",
            when="The owner of the address accepts. Recorded beside the login.",
            signal=signals.invitation_accepted,
        ),
        "invitation.declined": Action(
            "An invitation was declined.",
            when="The owner of the address declines, with an account or without.",
            signal=signals.invitation_declined,
        ),
        "invitation.cancelled": Action(
            "An invitation was cancelled.",
            actors=ANYBODY,
            when="The sender or staff cancel a pending invitation.",
            signal=signals.invitation_cancelled,
        ),
    }

    def ready(self) -> None:
        from authservice.invitation import checks

        checks.connect()
