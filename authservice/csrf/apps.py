"""App configuration of the csrf module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class CsrfConfig(modules.ModuleConfig):
    name = "authservice.csrf"
    label = "authservice_csrf"
    verbose_name = admin_text("CSRF protection")
    views = "authservice.csrf.views"
    request_guard = "authservice.csrf.guard.guard"

    def ready(self) -> None:
        from authservice.csrf import checks

        checks.connect()
