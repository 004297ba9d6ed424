"""App configuration of the pages module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class PagesConfig(modules.ModuleConfig):
    name = "authservice.pages"
    label = "authservice_pages"
    verbose_name = admin_text("Pages")
    link_pages = "authservice.pages.views.link_pages"

    def ready(self) -> None:
        from authservice.pages import checks

        checks.connect()
