"""App configuration of the module. It has no slot for its routes: the project includes their
URLconf where those of simplejwt were."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class CompatSimpleJwtConfig(modules.ModuleConfig):
    name = "authservice.compat.simplejwt"
    label = "authservice_compat_simplejwt"
    verbose_name = admin_text("Routes of simplejwt")
    foreign_tokens = "authservice.compat.simplejwt.trade.tokens"

    def ready(self) -> None:
        from authservice.compat.simplejwt import checks

        super().ready()
        checks.connect()
