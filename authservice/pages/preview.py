"""Every page in every state, with made-up values, for developers who change its looks.

`/pages-preview` lists the states, `/pages-preview?state=login` shows one. Screenshots and the tests
of accessibility walk the same list. Forms on these pages lead nowhere. Only with `DEBUG`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from authservice.kernel.errors import NotFound
from authservice.kernel.secret import Secret
from authservice.pages import account_pages, form_fields
from authservice.pages.account_section import Action, Box, Form, Row
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor, page

_EMAIL = "ann@example.com"
_PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E%3Cpath"
    " d='M0 0h3v3H0zM6 0h3v3H6zM0 6h3v3H0zM4 4h1v1H4zM6 6h1v2H6z'/%3E%3C/svg%3E"
)
_CODES = [f"PLUM-{number}-TART" for number in range(1001, 1011)]


@page()
def preview(visitor: Visitor) -> HttpResponse:
    if not settings.DEBUG:
        raise NotFound
    states = shown()
    wanted = visitor.request.GET.get("state")
    if wanted is None:
        return visitor.show("preview.html", {"states": list(states)})
    if wanted not in states:
        raise NotFound
    template, context = states[wanted]
    if not template.startswith("account"):
        return visitor.show(template, context)
    return account_pages.frame(visitor, account_pages.shown()[0], template, context)


def shown() -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """The template of each state by its name, and the context."""
    providers = [
        {"name": name, "label": label, "url": "#"}
        for name, label in (("google", "Google"), ("microsoft", "Microsoft"), ("acme", "Acme"))
    ]
    login = {
        "fields": _filled(form_fields.identifier(), form_fields.password()),
        "sign_up": "#",
        "forgot": "#",
        "mailed_link": "#",
    }
    typed = form_fields.of_signup(("name", "phone_number"))
    signup = {"fields": typed, "log_in": "#"}
    wrong = [
        replace(one, error="Must have at least 8 characters." if one.type == "password" else "")
        for one in typed
    ]
    setup = {"qr_code": _PICTURE, "secret": "JBSWY3DPEHPK3PXP", "backup_codes": _CODES}
    factor = {"fields": [form_fields.FACTOR], "temp_token": Secret("x"), "log_in": "#"}
    form = Form(name="x", title="Delete your account?", button="Delete", send=_nothing, danger=True)
    dead = {"heading": "This link does not work", "text": "It was used before.", "failed": True}
    done = {"heading": "Your password was changed", "text": "Sign in with it.", "home_url": "#"}
    return {
        "login": ("login.html", login),
        "login-providers": ("login.html", {**login, "providers": providers}),
        "login-error": ("login.html", {**login, "alert": "Check both fields."}),
        "login-stale": ("login.html", {**login, "stale": True}),
        "signup": ("signup.html", {**signup, "providers": providers}),
        "signup-error": ("signup.html", {**signup, "fields": wrong, "wrong": 1}),
        "signup-closed": ("signup.html", {**signup, "closed": True}),
        "forgot": (
            "ask_for_mail.html",
            {
                "fields": [form_fields.EMAIL],
                "heading": "Forgot your password?",
                "text": "We mail you a link.",
                "button": "Send the mail",
                "log_in": "#",
            },
        ),
        "mailbox": ("mailbox.html", {"email": _EMAIL, "again": "#", "log_in": "#"}),
        "mailbox-code": (
            "mailbox.html",
            {
                "email": _EMAIL,
                "again": "#",
                "log_in": "#",
                "code_url": "#",
                "fields": [form_fields.CODE],
            },
        ),
        "factor": ("second_factor.html", {**factor, "may_remember": True}),
        "factor-error": (
            "second_factor.html",
            {**factor, "fields": [replace(form_fields.FACTOR, error="Not right.")], "wrong": 1},
        ),
        "factor-set-up": (
            "set_up_factor.html",
            {"setup": setup, "fields": [form_fields.CODE], "temp_token": Secret("x")},
        ),
        "log-out": ("log_out.html", {}),
        "signed-out": ("signed_out.html", {"log_in": "#"}),
        "result": ("result.html", done),
        "result-failed": ("result.html", dead),
        "account": ("account.html", {"boxes": _boxes(), "notice": "Your name was changed."}),
        "account-empty": ("account.html", {"boxes": [Box(title="Orders", empty="None yet.")]}),
        "account-form": (
            "account_form.html",
            {"form": form, "fields": [form_fields.password()], "back": "#"},
        ),
        "account-form-error": (
            "account_form.html",
            {
                "form": form,
                "fields": [replace(form_fields.password(), error="Not right.")],
                "wrong": 1,
                "back": "#",
            },
        ),
        "account-factor": (
            "account_factor.html",
            {"setup": setup, "fields": [form_fields.CODE], "action": "#", "back": "#"},
        ),
        "account-codes": (
            "account_codes.html",
            {"renewed": {"backup_codes": _CODES}, "back": "#"},
        ),
        "account-leave": ("account_leave.html", {"url": "#", "name": "Acme", "back": "#"}),
    }


def _boxes() -> list[Box]:
    change = Action(label="Change", about="name", url="#")
    remove = Action(label="Remove", about="Google", url="#", danger=True)
    return [
        Box(
            title="About you",
            rows=[
                Row(label="Name", value="Ann Plum", actions=[change]),
                Row(label="E-mail", value=_EMAIL, tag="Confirmed", tone="good"),
                Row(label="Phone", value="+49 170 1234567", tag="Not confirmed", tone="warn"),
            ],
        ),
        Box(
            title="Second factor",
            text="A code from your phone, asked after the password.",
            tag="Off",
            tone="warn",
            actions=[Action(label="Turn on", url="#", main=True)],
        ),
        Box(
            title="Your devices",
            rows=[
                Row(label="Firefox on Windows", hint="just now", icon="screen", tag="This browser"),
                Row(label="Safari on iOS", hint="2 hours ago", icon="phone", actions=[remove]),
            ],
        ),
    ]


def _filled(*found: Field) -> list[Field]:
    return [replace(found[0], value=_EMAIL), *found[1:]]


def _nothing(*_: Any) -> Any:
    raise NotFound
