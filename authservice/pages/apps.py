"""App configuration of the pages module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class PagesConfig(modules.ModuleConfig):
    name = "authservice.pages"
    label = "authservice_pages"
    verbose_name = admin_text("Pages")
    urls = "authservice.pages.urls"
    link_pages = "authservice.pages.views.link_pages"
    account_section = (
        "authservice.pages.account.profile_section.section",
        "authservice.pages.account.security_section.section",
        "authservice.pages.account.device_section.sessions",
        "authservice.pages.account.organization_section.section",
        "authservice.pages.account.device_section.activity",
    )

    def ready(self) -> None:
        from authservice.pages import checks

        checks.connect()
