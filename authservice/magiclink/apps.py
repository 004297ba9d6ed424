"""App configuration of the magic-link module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class MagicLinkConfig(modules.ModuleConfig):
    name = "authservice.magiclink"
    label = "authservice_magiclink"
    verbose_name = admin_text("Magic links")
    urls = "authservice.magiclink.urls"
    message_builders = "authservice.magiclink.messages.message_builders"
    login_method = "authservice.magiclink.login.can_log_in"
    expired_rows = "authservice.magiclink.auto_register.expired_rows"

    def ready(self) -> None:
        from authservice.magiclink import checks

        checks.connect()
