"""Django admin: the support page of an account."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, path, reverse

from authservice.core.models import Account
from authservice.core.staff import support_page
from authservice.core.users.person import Person
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support import Cell, Link, Section

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Account]
else:
    Page = object

_TEMPLATE = "authservice/core/admin-support.html"


class SupportPages(Page):
    """Adds the support page to the pages of accounts."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.support_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_support"
        return [path("<path:object_id>/support/", view, name=name), *super().get_urls()]

    def support_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        person = self._found(request, object_id)
        page = support_page.of(person, self._may(request))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Support"),
            "subtitle": str(person.account),
            "opts": self.opts,
            "account": person.account,
            "page": page,
            "facts": [(name, self._cell(request, cell)) for name, cell in page.facts],
            "sections": [self._section(request, section) for section in page.sections],
            "account_link": self._cell(
                request, Link(person.account, support_page.ACCOUNT, person.user.pk)
            ),
        }
        return TemplateResponse(request, _TEMPLATE, context)

    def support_url(self, account: Account) -> str:
        """The support page of an account on this site."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_support"
        return reverse(name, args=[quote(account.pk)], current_app=self.admin_site.name)

    def _found(self, request: HttpRequest, object_id: str) -> Person:
        """Raises `PermissionDenied` and `Http404`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        account = self.get_object(request, unquote(object_id))
        if account is None:
            raise Http404
        return Person(account.user, account)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("user")

    def _may(self, request: HttpRequest) -> support_page.May:
        user: Any = request.user
        return lambda permission: bool(user.has_perm(permission))

    def _section(self, request: HttpRequest, section: Section) -> dict[str, Any]:
        return {
            "title": section.title,
            "headings": section.headings,
            "rows": [self._cells(request, row) for row in section.rows],
            "more": self._cell(request, section.more),
        }

    def _cells(self, request: HttpRequest, row: Iterable[Cell]) -> list[dict[str, Any]]:
        return [self._cell(request, cell) for cell in row]

    def _cell(self, request: HttpRequest, cell: Cell) -> dict[str, Any]:
        if isinstance(cell, Link):
            return {"text": cell.text, "url": url_of(self.admin_site, request, cell)}
        return {"text": cell, "url": ""}


def url_of(site: Any, request: HttpRequest, link: Link) -> str:
    """The page that a link leads to; "" if the site has none, or the member of staff may not view
    the model."""
    app, model = link.model.split(".")
    user: Any = request.user
    if not (user.has_perm(f"{app}.view_{model}") or user.has_perm(f"{app}.change_{model}")):
        return ""
    view = "changelist" if link.pk is None else "change"
    arguments = [] if link.pk is None else [link.pk]
    try:
        url = reverse(f"admin:{app}_{model}_{view}", args=arguments, current_app=site.name)
    except NoReverseMatch:
        return ""
    return f"{url}?{urlencode(link.query)}" if link.query else url
