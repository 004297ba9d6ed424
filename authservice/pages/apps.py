"""App configuration of the pages module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class PagesConfig(modules.ModuleConfig):
    name = "authservice.pages"
    label = "authservice_pages"
    verbose_name = admin_text("Pages")
    urls = "authservice.pages.urls"
    link_pages = "authservice.pages.views.link_pages"
    account_section = (
        "authservice.pages.account.profile.section",
        "authservice.pages.account.security.section",
        "authservice.pages.account.devices.sessions",
        "authservice.pages.account.organizations.section",
        "authservice.pages.account.devices.activity",
    )

    def ready(self) -> None:
        from authservice.pages import checks

        checks.connect()
