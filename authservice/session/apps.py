"""App configuration of the session module; the rows of the sessions are core's."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class SessionConfig(modules.ModuleConfig):
    name = "authservice.session"
    label = "authservice_session"
    verbose_name = admin_text("Sessions")
    views = (
        "authservice.core.api.login_views",
        "authservice.session.views",
    )
    login_policy = "authservice.session.session_policy.policy"

    def ready(self) -> None:
        from authservice.session import checks

        checks.connect()
