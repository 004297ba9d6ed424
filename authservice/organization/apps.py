"""Django app of the organization module, and the slots that it fills."""

from __future__ import annotations

from authservice import signals
from authservice.kernel import modules
from authservice.kernel.actions import ANYBODY, Action
from authservice.kernel.languages import admin_text


class OrganizationConfig(modules.ModuleConfig):
    name = "authservice.organization"
    label = "authservice_organization"
    verbose_name = admin_text("Organizations")
    views = (
        "authservice.organization.views.organization_routes",
        "authservice.organization.views.invitation_routes",
    )
    session_data = "authservice.organization.serializers.session_data"
    message_builders = "authservice.organization.invitations.message_builders"
    account_access = "authservice.organization.invitations.account_access"
    expired_rows = "authservice.organization.invitations.expired_rows"
    event_listener = "authservice.organization.members.on_event"
    support = (
        "authservice.organization.support.memberships",
        "authservice.organization.support.invitations",
    )

    actions = {
        # Events in organizations, including consequences of staff actions.
        "org.created": Action(
            "An organization was created.",
            actors=ANYBODY,
            when="A user creates an organization, signs up with `ORGANIZATION.AUTO_CREATE`, or an"
            " operator creates one.",
            signal=signals.organization_created,
        ),
        "org.updated": Action(
            "An organization was changed.",
            actors=ANYBODY,
            when="A member changes name, logo or metadata, or staff change the organization.",
            signal=signals.organization_updated,
        ),
        "org.deleted": Action(
            "An organization was deleted.",
            actors=ANYBODY,
            when="An owner or staff delete an organization, or its only member is deleted.",
            signal=signals.organization_deleted,
        ),
        "org.switched": Action(
            "The active organization was changed.",
            when="A user makes an organization the active one of the session.",
            signal=signals.organization_switched,
        ),
        "org.member.added": Action(
            "A member was added.",
            actors=ANYBODY,
            when="A user accepts an invitation to an organization, or staff add a member.",
            signal=signals.member_added,
        ),
        "org.member.removed": Action(
            "A member was removed.",
            actors=ANYBODY,
            when="A member leaves or is removed, also by staff.",
            signal=signals.member_removed,
        ),
        "org.member.role_changed": Action(
            "The role of a member was changed.",
            actors=ANYBODY,
            when="A member gets another role, also because the last owner was deleted.",
            signal=signals.member_role_changed,
        ),
        "org.invitation.sent": Action(
            "An invitation to an organization was sent.",
            actors=ANYBODY,
            when="A member invites an address, or the mail is sent again, also by staff.",
            signal=signals.organization_invitation_sent,
        ),
        "org.invitation.accepted": Action(
            "An invitation to an organization was accepted.",
            when="The owner of the address accepts. Recorded beside the new member and the login.",
            signal=signals.organization_invitation_accepted,
        ),
        "org.invitation.declined": Action(
            "An invitation to an organization was declined.",
            when="The owner of the address declines, with an account or without.",
            signal=signals.organization_invitation_declined,
        ),
        "org.invitation.cancelled": Action(
            "An invitation to an organization was cancelled.",
            actors=ANYBODY,
            when="A member or staff cancel a pending invitation.",
            signal=signals.organization_invitation_cancelled,
        ),
    }

    def ready(self) -> None:
        from authservice.organization import checks, members

        checks.connect()
        members.connect_deletion()
