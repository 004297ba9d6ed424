"""App configuration of the stateless module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class StatelessConfig(modules.ModuleConfig):
    name = "authservice.stateless"
    label = "authservice_stateless"
    verbose_name = admin_text("Stateless login")
    views = "authservice.core.api.login_views"
    login_policy = "authservice.stateless.stateless_policy.policy"

    def ready(self) -> None:
        from authservice.stateless import conf  # noqa: F401 declares the settings of the module
