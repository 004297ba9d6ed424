"""Data sheet of the magic-link module."""

from __future__ import annotations

from authservice.kernel import modules


class MagicLinkConfig(modules.ModuleConfig):
    name = "authservice.magiclink"
    label = "authservice_magiclink"
    verbose_name = "Magic links"
    urls = "authservice.magiclink.urls"
    composers = "authservice.magiclink.messages.composers"
    rubbish = "authservice.magiclink.auto_register.rubbish"

    def ready(self) -> None:
        from authservice.magiclink import checks

        super().ready()
        checks.connect()
