"""Django admin: the cells of a support page, with links to pages that the staff user may view."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from authservice.kernel.support import Cell, Link, Section


class Links:
    """Turns cells into texts and URLs, for one staff user on one site."""

    def __init__(self, site: Any, user: Any) -> None:
        self._site = site
        self._user = user

    def section(self, section: Section) -> dict[str, Any]:
        return {
            "title": section.title,
            "headings": section.headings,
            "rows": [[self.cell(cell) for cell in row] for row in section.rows],
            "more": self.cell(section.more),
        }

    def cell(self, cell: Cell) -> dict[str, Any]:
        if isinstance(cell, Link):
            return {"text": cell.text, "url": self._url(cell)}
        return {"text": cell, "url": ""}

    def _url(self, link: Link) -> str:
        """The page that a link leads to; "" if the site has none, or the staff user may not view
        the model."""
        app, model = link.model.split(".")
        if not any(self._user.has_perm(f"{app}.{verb}_{model}") for verb in ("view", "change")):
            return ""
        view, arguments = ("changelist", []) if link.pk is None else ("change", [link.pk])
        try:
            name = f"admin:{app}_{model}_{view}"
            url = reverse(name, args=arguments, current_app=self._site.name)
        except NoReverseMatch:
            return ""
        return f"{url}?{urlencode(link.query)}" if link.query else url
