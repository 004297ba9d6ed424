"""Django admin: the support page of an account, and the confirmation page of each button."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import connections, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http import HttpResponseRedirect as Redirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, path, reverse
from django.views.defaults import permission_denied

from authservice.core.models import Account
from authservice.core.staff import authority, support_actions
from authservice.core.staff.admin_lists import BREADCRUMBS_ARE_A_LIST
from authservice.core.staff.admin_pages import log
from authservice.core.staff.support_actions import NotOffered
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.errors import Fault
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_text as _
from authservice.kernel.support_parts import Button, Cell, Link, Section

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Account]
else:
    Page = object

_PAGE = "authservice/core/admin-support.html"
_CONFIRMATION = "authservice/core/admin-support-confirm.html"


class SupportPages(Page):
    """Adds the support page to the pages of accounts."""

    def get_urls(self) -> list[Any]:
        return [
            path("<path:object_id>/support/", self._view(self.support_view), name=self._name()),
            path(
                "<path:object_id>/support/<slug:button>/",
                self._view(self.button_view),
                name=self._name("_button"),
            ),
            *super().get_urls(),
        ]

    def _view(self, view: Any) -> Any:
        """The view, outside of any transaction of the request: the audit entry of a refusal must be
        kept. Django's `admin_view` checks the staff user and the CSRF token."""
        checked = self.admin_site.admin_view(view)
        for alias in connections:
            checked = transaction.non_atomic_requests(using=alias)(checked)
        return checked

    def _name(self, more: str = "") -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_support{more}"

    def support_url(self, account: Account) -> str:
        """The support page of an account on this site."""
        return self._url(account.pk)

    def _url(self, pk: Any, *button: str) -> str:
        name, site = self._name("_button" if button else ""), self.admin_site.name
        return reverse(f"admin:{name}", args=[quote(pk), *button], current_app=site)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("user")

    # The support page

    def support_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        person = self._get_person(request, object_id)
        may = self._may(request)
        page = support_actions.page_of(person, may)
        links = Links(self.admin_site, request.user)
        protected = not authority.may_support(request.user, person)
        offered = () if protected else support_actions.buttons()
        buttons = [
            (button, self._url(person.user.pk, button.name))
            for button in offered
            if may(button.permission) and button.offered(person)
        ]
        context = {
            "page": page,
            "facts": [(name, links.cell(cell)) for name, cell in page.facts],
            "sections": [links.section(section) for section in page.sections],
            "buttons": buttons,
            "protected": protected,
        }
        return self._answer(request, _PAGE, person, context)

    # The confirmation page and the action of a button

    def button_view(self, request: HttpRequest, object_id: str, button: str) -> HttpResponse:
        person = self._get_person(request, object_id)
        definition = {each.name: each for each in support_actions.buttons()}.get(button)
        if definition is None:
            raise Http404
        if not self._may(request)(definition.permission):
            raise PermissionDenied
        if request.method == "POST":
            # `run` checks `may_support` too, and records a refusal in the audit log.
            return self._pressed(request, person, definition)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
        if not authority.may_support(request.user, person):
            raise PermissionDenied
        context = {"button": definition, "email": person.email}
        response = self._answer(request, _CONFIRMATION, person, context)
        response["X-Frame-Options"] = "DENY"  # against clickjacking, whatever the project sets
        return response

    def _pressed(self, request: HttpRequest, person: Person, button: Button) -> HttpResponse:
        try:
            result = support_actions.run(
                button,
                person,
                by=request.user,
                client=of_page(request),
                shown=request.POST.get("email", ""),  # the address on the confirmation page
            )
        except errors.Forbidden as fault:  # recorded by `run`
            return permission_denied(request, fault)
        except NotOffered:
            text = _("Nothing was done: the account has changed in the meantime.")
            self.message_user(request, text, messages.WARNING)
        except Fault as fault:
            self.message_user(request, fault.text, messages.ERROR)
        else:
            log(request, [person.account], f"{button.label}: {result}")
            self.message_user(request, result, messages.SUCCESS)
        return Redirect(self._url(person.user.pk))

    # For both pages

    def _get_person(self, request: HttpRequest, object_id: str) -> Person:
        """Raises `PermissionDenied` and `Http404`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        account = self.get_object(request, unquote(object_id))
        if account is None:
            raise Http404
        return Person(account.user, account)

    def _may(self, request: HttpRequest) -> support_actions.May:
        user: Any = request.user
        return lambda permission: bool(user.has_perm(permission))

    def _answer(
        self, request: HttpRequest, template: str, person: Person, context: dict[str, Any]
    ) -> TemplateResponse:
        account = person.account
        link = Link(account, support_actions.ACCOUNT, account.pk)
        shared = {
            **self.admin_site.each_context(request),
            "title": _("Support"),
            "subtitle": str(account),
            "opts": self.opts,
            "is_list": BREADCRUMBS_ARE_A_LIST,
            "account": Links(self.admin_site, request.user).cell(link),
            "support_url": self.support_url(account),
        }
        return TemplateResponse(request, template, {**shared, **context})


class Links:
    """Turns cells of the support page into texts and URLs, for one staff user on one site."""

    def __init__(self, site: Any, user: Any) -> None:
        self._site = site
        self._user = user

    def section(self, section: Section) -> dict[str, Any]:
        return {
            "title": section.title,
            "headings": section.headings,
            "rows": [[self.cell(cell) for cell in row] for row in section.rows],
            "more": self.cell(section.more),
            "empty": section.empty,
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
