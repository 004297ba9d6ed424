"""Data sheet of core."""

from __future__ import annotations

from authservice.kernel import modules


class CoreConfig(modules.ModuleConfig):
    name = "authservice.core"
    label = "authservice_core"
    verbose_name = "Accounts and sign-ins"
    urls = "authservice.core.urls"
    identify = "authservice.core.bearer.identify"
    composers = (
        "authservice.core.security_notice.composers",
        "authservice.core.pending_signups.composers",
    )

    def ready(self) -> None:
        from authservice.core import checks, last_login, receivers
        from authservice.core.staff import checks as admin_login_checks

        super().ready()
        checks.connect()
        admin_login_checks.connect()
        receivers.connect()
        last_login.connect()
