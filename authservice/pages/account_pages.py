"""The pages of the account: its sections, and the page of each form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import URLPattern, path, reverse

from authservice.kernel.errors import Fault, InvalidToken, ReauthenticationRequired
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import page_text as _
from authservice.pages import calls, form_fields
from authservice.pages.account_section import AccountSection, Action, Form
from authservice.pages.calls import Values
from authservice.pages.visitor import Visitor, page, status_of


def shown() -> list[AccountSection]:
    """The sections of this project, in the order of its navigation."""
    return [section for section in plugs(AccountSection) if section.is_shown()]


@page(signed_in=True)
def account(visitor: Visitor) -> HttpResponse:
    return visitor.go(url_of(shown()[0]))


def url_of(section: AccountSection | str, form: str = "") -> str:
    name = section if isinstance(section, str) else section.name
    return reverse(f"authservice:page-account-{name}{f'-{form}' if form else ''}")


def paths() -> list[URLPattern]:
    """The routes of all sections and their forms."""
    found = [path("account", account, name="page-account")]
    for section in shown():
        at, name = f"account/{section.name}", f"page-account-{section.name}"
        found.append(path(at, _section_page(section), name=name))
        found += [
            path(f"{at}/{form.name}", _form_page(section, form), name=f"{name}-{form.name}")
            for form in section.forms
            if not form.needs or calls.exists(form.needs)
        ]
    return found


def frame(
    visitor: Visitor,
    section: AccountSection,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """A page with the navigation of the account."""
    return visitor.show(
        template,
        {
            "sections": [(one, url_of(one), one is section) for one in shown()],
            "section": section,
            "log_out": reverse("authservice:page-logout"),
            **context,
        },
        status=status,
    )


def _section_page(section: AccountSection) -> Any:
    @page(signed_in=True)
    def show(visitor: Visitor) -> HttpResponse:
        return frame(visitor, section, "account.html", {"boxes": section.boxes(visitor)})

    return show


def _form_page(section: AccountSection, form: Form) -> Any:
    @page(signed_in=True)
    def show(visitor: Visitor) -> HttpResponse:
        wanted = form.fields(visitor)
        if not visitor.submitted:
            return _form(visitor, section, form, wanted)
        body = Values((one.name, one.typed(visitor.sent)) for one in wanted)
        answer = form.send(visitor, body)
        if isinstance(answer.fault, InvalidToken):
            raise answer.fault
        if answer.fault is not None:
            return _form(visitor, section, form, wanted, answer.fault)
        if form.after is not None:
            response: HttpResponse = form.after(visitor, answer)
            return response
        data = answer.data if isinstance(answer.data, dict) else {}
        return visitor.go(url_of(section), str(form.done or data.get("message", "")))

    return show


def _form(
    visitor: Visitor,
    section: AccountSection,
    form: Form,
    wanted: Sequence[Any],
    fault: Fault | None = None,
) -> HttpResponse:
    errors = form_fields.errors_of(fault, wanted)
    found = [one.shown(visitor.typed, errors) for one in wanted]
    action = None
    if fault and fault.code == ReauthenticationRequired.code:
        here = urlencode({"again": 1, "next": visitor.request.get_full_path()})
        again = f"{reverse('authservice:page-login')}?{here}"
        action = Action(label=_("Sign in again"), url=again, main=True)
    context = {
        "form": form,
        "fields": found,
        "alert": errors.get("", ""),
        "wrong": sum(bool(one.error) for one in found),
        "back": url_of(section),
        "action": action,
    }
    return frame(visitor, section, "account_form.html", context, status_of(fault))
