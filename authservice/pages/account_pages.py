"""The pages of the account: its sections, the page of each form, the parts of long lists, and the
page that asks a signed-in user for a proof, as views with `proven` and guarded routes do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import URLPattern, path, reverse

from authservice.core.api import identity
from authservice.core.errors import StepUpUnavailable, step_up_unavailable
from authservice.core.users.host_fields import REQUIRED
from authservice.kernel import levels
from authservice.kernel.errors import (
    Fault,
    InvalidToken,
    NotFound,
    ReauthenticationRequired,
    ValidationFailed,
)
from authservice.kernel.languages import page_text as _
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.pages import calls, form_errors, form_fields, passkey_forms
from authservice.pages.account_section import AccountSection, Action, Box, Form
from authservice.pages.calls import Values
from authservice.pages.form_fields import Field
from authservice.pages.visitor import NEXT, Visitor, home, page, status_of

# Rows of a list. A page has up to two lists, whose names and addresses may be long, and should have
# at most 40 kB.
PER_PAGE = 10
_DIGITS = 9  # of an offset; one with more counts as 0
_ACR = "acr_values"
_PROOFS = ("password", "code")
# By method. The page shows the text of the first one that the challenge offers.
_TEXTS = {
    "password": _("Enter your password to continue."),
    "code": _("Enter the code that your app shows now, or a backup code, to continue."),
    passkey_forms.METHOD: _("Use your passkey or security key to continue."),
}


def paths() -> list[URLPattern]:
    """The routes of all sections and their forms."""
    routes = [path("account", account, name="page-account")]
    for section in shown():
        at, name = f"account/{section.name}", f"page-account-{section.name}"
        routes.append(path(at, _section_page(section), name=name))
        routes += [
            path(f"{at}/{form.name}", _form_page(section, form), name=f"{name}-{form.name}")
            for form in section.forms
            if not form.needs or calls.exists(form.needs)
        ]
    return routes


@page(signed_in=True)
def account(visitor: Visitor) -> HttpResponse:
    return visitor.go(url_of(shown()[0]))


def _section_page(section: AccountSection) -> Any:
    @page(signed_in=True)
    def show(visitor: Visitor) -> HttpResponse:
        boxes = section.boxes(visitor)
        context = {"boxes": boxes, "icons": icons_of(boxes), **section.context(visitor)}
        return frame(visitor, section, "account.html", context)

    return show


def _form_page(section: AccountSection, form: Form) -> Any:
    @page(signed_in=True)
    def show(visitor: Visitor) -> HttpResponse:
        if not form.is_offered(visitor):
            raise NotFound
        fields = form.fields(visitor)
        if not visitor.submitted:
            return _form(visitor, section, form, fields)
        if missing := _missing_proof(visitor, fields):
            return _form(visitor, section, form, fields, missing)
        body = Values((field.name, field.typed(visitor.sent)) for field in fields)
        answer = form.send(visitor, body)
        if isinstance(answer.fault, InvalidToken):
            raise answer.fault  # the session has ended meanwhile: `page` leads to the login
        if answer.fault is not None:
            again = form.again and form.again(visitor, answer.fault)
            return again or _form(visitor, section, form, fields, answer.fault)
        if form.after is not None:
            response: HttpResponse = form.after(visitor, answer)
            return response
        data = answer.data if isinstance(answer.data, dict) else {}
        return visitor.go(url_of(section), str(form.done or data.get("message", "")))

    return show


def _missing_proof(visitor: Visitor, fields: Sequence[Field]) -> Fault | None:
    """The error of a form whose password or code was left out. A route asks for it only if the
    project requires a recent proof. Without this check, somebody at the unlocked browser of another
    user could leave out a field that the form shows."""
    empty = [field for field in fields if field.required and not visitor.sent.get(field.name)]
    if not any(field.name in _PROOFS for field in empty):
        return None
    return ValidationFailed(details={field.name: [REQUIRED] for field in empty})


def _form(
    visitor: Visitor,
    section: AccountSection,
    form: Form,
    fields: Sequence[Field],
    fault: Fault | None = None,
) -> HttpResponse:
    errors = form_errors.of_form(visitor, fault, fields, user=visitor.person.user)
    shown_fields = [field.shown(visitor.typed, errors) for field in fields]
    action = None
    if fault and fault.code == ReauthenticationRequired.code:
        login_query = urlencode({"again": 1, "next": visitor.request.get_full_path()})
        login_url = f"{reverse('authservice:page-login')}?{login_query}"
        action = Action(label=_("Sign in again"), url=login_url, main=True)
    if fault and (url := identity.step_up_page(visitor.request, fault)):
        action = Action(label=_("Confirm that it is you"), url=url, main=True)
    # The name of the user, for a form that has a password but no field for the name. Without it, a
    # password manager cannot tell which entry to use, or stores a new password without a name.
    password_of = ""
    has_password = any(field.type == "password" for field in fields)
    if has_password and not any(field.autocomplete == "username" for field in fields):
        password_of = str(visitor.person.email or visitor.person.user.get_username())
    context = {
        "form": form,
        "text": form.text(visitor) if callable(form.text) else form.text,
        "fields": shown_fields,
        "password_of": password_of,
        "alert": errors.get("", ""),
        "wrong": sum(bool(field.error) for field in shown_fields),
        "back": visitor.next or url_of(section),
        "action": action,
    }
    return frame(visitor, section, "account_form.html", context, status_of(fault))


def shown() -> list[AccountSection]:
    """The sections of this project, in the order of its navigation."""
    return [section for section in plugs(AccountSection) if section.is_shown()]


def url_of(section: AccountSection | str, form: str = "") -> str:
    name = section if isinstance(section, str) else section.name
    return reverse(f"authservice:page-account-{name}{f'-{form}' if form else ''}")


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
            "sections": [(entry, url_of(entry), entry is section) for entry in shown()],
            "section": section,
            "log_out": reverse("authservice:page-logout"),
            "home": home(),
            "who": visitor.person and (visitor.person.email or visitor.person.username),
            **context,
        },
        status=status,
    )


def icons_of(boxes: Sequence[Box]) -> list[str]:
    """The icons of all rows, each of which is drawn once in the page."""
    return sorted({row.icon for box in boxes for row in box.rows if row.icon})


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a page shows of a list: rows of the API, the number of all, links to the other parts and
    a text such as "21-40 of 60"."""

    rows: Sequence[Any] = ()
    total: int = 0
    links: Sequence[Action] = ()
    range: str = ""


def part_of(
    visitor: Visitor,
    route: str,
    *,
    about: Any,
    query: str = "",
    path: Mapping[str, str] | None = None,
    name: str = "offset",
    words: tuple[Any, Any] = (_("Previous"), _("Next")),
) -> Part:
    """The part of the list of `route` that begins at the parameter `name` of the page's address.

    Links to the other parts keep the other parameters of the address. Screen readers say `about`
    with them, since a page may have several lists. Raises the error of the route.
    """
    text = visitor.request.GET.get(name, "")
    offset = int(text) if text.isdecimal() and len(text) <= _DIGITS else 0
    paging = f"offset={offset}&limit={PER_PAGE}"
    answer = visitor.call(route, "GET", query=f"{query}&{paging}" if query else paging, path=path)
    if answer.fault is not None:
        raise answer.fault
    is_array = isinstance(answer.data, list)
    rows = answer.data if is_array else answer.data["list"]
    total = answer.total if is_array else answer.data["total"]
    last = offset + len(rows)
    links = []
    if offset:
        before = min(offset, total) - PER_PAGE
        links.append(_link(visitor, words[0], about, {name: max(0, before)}))
    if last < total and rows:
        links.append(_link(visitor, words[1], about, {name: offset + PER_PAGE}))
    numbers = _("%(first)d-%(last)d of %(total)d") % {
        "first": offset + 1,
        "last": last,
        "total": total,
    }
    return Part(rows=rows, total=total, links=links, range=numbers if links and rows else "")


def _link(visitor: Visitor, label: Any, about: Any, changed: Mapping[str, int]) -> Action:
    query = visitor.request.GET.copy()
    for name, value in changed.items():
        query[name] = str(value)
    return Action(label=label, about=about, url=f"?{query.urlencode()}")


@page(signed_in=True)
def confirm(visitor: Visitor) -> HttpResponse:
    """Asks for a proof, and leads back to where the user was. The session continues, with the level
    that was proven. `acr_values` in the address or the form is the requested level."""
    if not visitor.submitted:
        return _step_up_form(visitor)
    body = Values(temp_token=visitor.sent.get("temp_token"))
    body |= {name: visitor.sent.get(name) for name in ("password", "code")}
    body["credential"] = passkey_forms.credential_of(visitor.sent)
    answer = visitor.call("step-up-verify", body=body)
    if answer.fault is not None:
        return _step_up_form(visitor, answer.fault)
    visitor.renew(answer)  # its claims have the new level now
    return visitor.go(visitor.destination)


def _step_up_form(visitor: Visitor, fault: Fault | None = None) -> HttpResponse:
    requested = visitor.sent.get(_ACR) or visitor.request.GET.get(_ACR, "")
    acr = requested if requested in levels.ORDER else levels.OWN
    answer = visitor.call("step-up", body={"acr": acr})
    if answer.fault is not None and answer.fault.code == StepUpUnavailable.code:
        return _unavailable(visitor, answer.fault)
    if answer.fault is not None:
        return visitor.failed(answer.fault)
    challenge = answer.data["challenges"][0]["data"]
    method = next((name for name in _TEXTS if name in challenge["methods"]), None)
    if method is None:  # the user has only factors of the project, which this page cannot ask for
        return _unavailable(visitor, step_up_unavailable(challenge["acr"], []))
    # One method is enough, so the form has one field at most; a passkey is offered beside it.
    fields: list[Field] = []
    if "password" in challenge["methods"]:
        fields.append(form_fields.password())
    elif "code" in challenge["methods"]:
        fields.append(form_fields.FACTOR)
    if isinstance(fault, InvalidToken):
        fault = None  # another form was answered, or this one was open for too long: ask again
    errors = form_errors.of_form(visitor, fault, fields)
    filled = [field.shown(None, errors) for field in fields]
    action = visitor.url("page-step-up", **{_ACR: acr})
    temp_token = Secret(challenge["temp_token"])
    sent_back = {"temp_token": temp_token, _ACR: acr}
    passkey = passkey_forms.of_challenge(
        challenge.get("passkey", {}), sent_back, action=action, main=not fields
    )
    context: dict[str, Any] = {
        "fields": filled,
        **passkey_forms.shown(passkey),
        "alert": errors.get("", ""),
        "wrong": sum(bool(field.error) for field in filled),
        "temp_token": temp_token,
        "acr": acr,
        "text": _TEXTS[method],
        "action": action,
        "back": visitor.next,
    }
    return visitor.show("confirm.html", context, status=status_of(fault))


def _unavailable(visitor: Visitor, fault: Fault) -> HttpResponse:
    """The page for a user who has no method of the level: what to set up, or to sign in again."""
    if fault.fields["enrol"]:
        text = _(
            "Your account has only one factor. Set up a second one or a passkey, and come back."
        )
        onward = (reverse("authservice:page-account-security"), _("Set it up"))
    else:
        text = _("Your sign-in was not strong enough for this page. Sign in again.")
        login_query = urlencode({"again": 1, **({NEXT: visitor.next} if visitor.next else {})})
        onward = (f"{reverse('authservice:page-login')}?{login_query}", _("Sign in again"))
    context = {"heading": _("This page asks for more"), "text": text, "onward": onward}
    return visitor.show("result.html", {**context, "failed": True}, status=fault.status)
