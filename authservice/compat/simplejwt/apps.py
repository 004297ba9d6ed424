"""App configuration of the module. It sets no `urls`: the project includes the URLconf of the
module itself, in place of simplejwt's routes."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class CompatSimpleJwtConfig(modules.ModuleConfig):
    name = "authservice.compat.simplejwt"
    label = "authservice_compat_simplejwt"
    verbose_name = admin_text("Routes of simplejwt")
    foreign_tokens = "authservice.compat.simplejwt.trade.tokens"  # fills the slot of this name

    def ready(self) -> None:
        from authservice.compat.simplejwt import checks

        checks.connect()
