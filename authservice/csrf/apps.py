"""App configuration of the csrf module."""

from __future__ import annotations

from authservice.kernel import modules


class CsrfConfig(modules.ModuleConfig):
    name = "authservice.csrf"
    label = "authservice_csrf"
    verbose_name = "CSRF protection"
    urls = "authservice.csrf.urls"
    request_guard = "authservice.csrf.guard.guard"
    trusted_origins = "authservice.csrf.origins.trusted"

    def ready(self) -> None:
        from authservice.csrf import checks

        checks.connect()
