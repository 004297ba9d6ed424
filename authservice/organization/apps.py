"""Django app of the organization module, and the slots that it fills."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class OrganizationConfig(modules.ModuleConfig):
    name = "authservice.organization"
    label = "authservice_organization"
    verbose_name = admin_text("Organizations")
    urls = "authservice.organization.urls"
    claims = "authservice.organization.active.claims"
    login_extras = "authservice.organization.views.shapes.login_extras"
    message_builders = "authservice.organization.messages.message_builders"
    revoke_unverified_access = "authservice.organization.eviction.revoke_unverified"
    revoke_recent_access = "authservice.organization.eviction.revoke_recent"
    fingerprint_rows = "authservice.organization.models.OrganizationInvitation"
    expired_rows = "authservice.organization.invitations.expired_rows"
    event_listener = "authservice.organization.auto_create.on_event"
    support = (
        "authservice.organization.support.memberships",
        "authservice.organization.support.invitations",
    )

    def ready(self) -> None:
        from authservice.organization import checks, deletion

        checks.connect()
        deletion.connect()
