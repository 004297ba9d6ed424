"""Data sheet of core."""

from __future__ import annotations

from authservice.kernel import modules


class CoreConfig(modules.ModuleConfig):
    name = "authservice.core"
    label = "authservice_core"
    verbose_name = "Accounts and sign-ins"
    urls = "authservice.core.urls"
    identify = "authservice.core.bearer.identify"
    composers = "authservice.core.security_notice.composers"

    def ready(self) -> None:
        from authservice.core import checks, last_login, receivers

        super().ready()
        checks.connect()
        receivers.connect()
        last_login.connect()
