"""App configuration of the magic-link module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.actions import Action
from authservice.kernel.languages import admin_text


class MagicLinkConfig(modules.ModuleConfig):
    name = "authservice.magiclink"
    label = "authservice_magiclink"
    verbose_name = admin_text("Magic links")
    views = "authservice.magiclink.views"
    message_builders = "authservice.magiclink.link_login.message_builders"
    account_access = "authservice.magiclink.link_login.account_access"
    expired_rows = "authservice.magiclink.link_login.expired_rows"

    actions = {
        "auth.magiclink.sent": Action(
            "A link to sign in was sent.", when="The worker sends a magic link."
        ),
    }

    def ready(self) -> None:
        from authservice.magiclink import checks

        checks.connect()
