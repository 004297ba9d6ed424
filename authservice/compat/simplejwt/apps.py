"""App configuration of the module. The project includes its URLconf where simplejwt's routes were,
so it fills no slot for routes."""

from __future__ import annotations

from authservice.kernel import modules


class CompatSimpleJwtConfig(modules.ModuleConfig):
    name = "authservice.compat.simplejwt"
    label = "authservice_compat_simplejwt"
    verbose_name = "Routes of simplejwt"
