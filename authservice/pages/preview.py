"""Every page in every state, with made-up values, for developers who change how pages look.

`/pages-preview` lists the states, `/pages-preview?state=login` shows one. Screenshots and the tests
of accessibility walk the same list. Forms on these pages lead nowhere. Only with `DEBUG`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from authservice.core.credentials import password_rules
from authservice.kernel.errors import NotFound
from authservice.kernel.http import pages
from authservice.kernel.secret import Secret
from authservice.pages import account_pages, calls, form_fields, passkey_forms, provider_marks
from authservice.pages.account_section import Form
from authservice.pages.form_fields import Field
from authservice.pages.login_pages import provider_button
from authservice.pages.passkey_forms import PasskeyForm
from authservice.pages.preview_boxes import EMAIL, NOTICES, SECTIONS, button
from authservice.pages.visitor import Visitor, page

_PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E%3Cpath"
    " d='M0 0h3v3H0zM6 0h3v3H6zM0 6h3v3H0zM4 4h1v1H4zM6 6h1v2H6z'/%3E%3C/svg%3E"
)
_CODES = [f"PLUM-{number}-TART" for number in range(1001, 1011)]
_APP_KEY = "JBSWY3DPEHPK3PXP"
_SETUP = {
    "qr_code": _PICTURE,
    "qr_url": f"otpauth://totp/Plum:{EMAIL}?secret={_APP_KEY}",
    "secret": _APP_KEY,
    "backup_codes": _CODES,
}
_ERROR = "This is not right."


@page()
def preview(visitor: Visitor) -> HttpResponse:
    if not settings.DEBUG:
        raise NotFound
    states = shown()
    state = visitor.request.GET.get("state")
    if state is None:
        return visitor.show("preview.html", {"states": list(states)})
    if state not in states:
        raise NotFound
    template, context = states[state]
    if "/" in template:
        return pages.page(template, context)
    if not template.startswith("account"):
        return visitor.show(template, context)
    sections = account_pages.shown()
    section = next(
        (other for other in sections if state.startswith(f"account-{other.name}")), sections[0]
    )
    framed = {"who": EMAIL, "icons": account_pages.icons_of(context.get("boxes", ())), **context}
    return account_pages.frame(visitor, section, template, framed)


_States = dict[str, tuple[str, Mapping[str, Any]]]


def shown() -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """The template and the context of each state, by its name. A template of another module has its
    whole path."""
    sections: _States = {
        state: ("account.html", {"boxes": boxes, "notice": NOTICES.get(state, "")})
        for state, boxes in SECTIONS.items()
    }
    return {**_of_login(), **_of_further_steps(), **_of_links(), **sections, **_of_forms()}


def _of_login() -> _States:
    """The pages to sign in, to sign up, and to ask for a mail."""
    providers = [provider_button(name, "#") for name in ("google", "github", "microsoft", "acme")]
    every_provider = [provider_button(name, "#") for name in (*provider_marks.NAMES, "acme")]
    login = {
        "fields": [replace(form_fields.identifier(), value=EMAIL), form_fields.password()],
        "sign_up": "#",
        "forgot": "#",
        "mailed_link": "#",
    }
    fields = form_fields.of_signup(("name", "phone_number"))
    signup = {"fields": fields, "log_in": "#"}
    refused_fields = [_refused(field) if field.type == "password" else field for field in fields]
    ask = {
        "fields": [form_fields.EMAIL],
        "heading": "Forgot your password?",
        "text": "We will e-mail you a link.",
        "button": "Send the mail",
        "log_in": "#",
    }
    mailbox = {"email": EMAIL, "again": "#", "log_in": "#"}
    code = {**mailbox, "code_url": "#", "fields": [form_fields.MAILED_CODE]}
    late = "That took too long. Sign in again."
    unverified = {"alert": "Confirm your e-mail address first.", "unverified": "#"}
    return {
        "login": ("login.html", login),
        "login-providers": ("login.html", {**login, "providers": providers}),
        "login-every-provider": ("login.html", {**login, "providers": every_provider}),
        "login-error": ("login.html", {**login, "alert": "Check both fields."}),
        "login-locked": (
            "login.html",
            {**login, "alert": "Too many attempts. Try again in 4 minutes."},
        ),
        "login-unverified": ("login.html", {**login, **unverified}),
        "login-passkey": ("login.html", {**login, **_passkey("Sign in with a passkey")}),
        "login-stale": ("login.html", {**login, "stale": True}),
        "login-other-account": (
            "login.html",
            {**login, "signed_in_as": EMAIL, "account": "#"},
        ),
        "login-elsewhere": ("login.html", {**login, "signed_in_elsewhere": True}),
        "login-late": ("login.html", {**login, "notice": late}),
        "signup": ("signup.html", {**signup, "providers": providers}),
        "signup-error": ("signup.html", {**signup, "fields": refused_fields, "wrong": 1}),
        "signup-errors": (
            "signup.html",
            {**signup, "fields": [_refused(field) for field in fields], "wrong": len(fields)},
        ),
        "signup-passkey": ("signup.html", {**signup, "by_passkey": "#"}),
        "signup-closed": ("signup.html", {**signup, "closed": True}),
        "forgot": ("ask_for_mail.html", ask),
        "forgot-error": (
            "ask_for_mail.html",
            {**ask, "fields": [_refused(form_fields.EMAIL)], "wrong": 1},
        ),
        "mailed-link": (
            "ask_for_mail.html",
            {**ask, "fields": [form_fields.EMAIL, form_fields.REMEMBER]},
        ),
        "mailbox": ("mailbox.html", {**mailbox, "notice": "If so, another mail is on its way."}),
        "mailbox-new": ("mailbox.html", {**mailbox, "is_new": True}),
        "mailbox-code": ("mailbox.html", code),
        "mailbox-code-error": (
            "mailbox.html",
            {**code, "fields": [_refused(form_fields.MAILED_CODE)], "wrong": 1},
        ),
    }


def _of_further_steps() -> _States:
    """The second factor, the proof of who it is, and the way out."""
    factor = {"fields": [form_fields.FACTOR], "temp_token": Secret("x"), "log_in": "#"}
    refused = {"fields": [_refused(form_fields.FACTOR)], "wrong": 1}
    by_passkey = "Use a passkey or security key"
    password = {
        "text": "Enter your password to continue.",
        "fields": [form_fields.password()],
        "temp_token": Secret("x"),
        "back": "#",
    }
    return {
        "factor": (
            "second_factor.html",
            {**factor, "may_remember": "Do not ask on this device for 30 days"},
        ),
        "factor-error": ("second_factor.html", {**factor, **refused}),
        "factor-passkey": ("second_factor.html", {**factor, **_passkey(by_passkey)}),
        "factor-only-passkey": (
            "second_factor.html",
            {"only_passkey": True, **_passkey(by_passkey, main=True), "log_in": "#"},
        ),
        # After a link, in a project without Django's sessions.
        "factor-of-link": ("second_factor.html", {"temp_token": Secret("x")}),
        "factor-of-link-error": (
            "second_factor.html",
            {"temp_token": Secret("x"), "errors": {"code": _ERROR}},
        ),
        "factor-set-up": (
            "set_up_factor.html",
            {"setup": _SETUP, "fields": [form_fields.CODE], "temp_token": Secret("x")},
        ),
        "factor-set-up-error": (
            "set_up_factor.html",
            {
                "setup": _SETUP,
                "fields": [_refused(form_fields.CODE)],
                "wrong": 1,
                "temp_token": Secret("x"),
            },
        ),
        "confirm": ("confirm.html", password),
        "confirm-error": (
            "confirm.html",
            {**password, "fields": [_refused(form_fields.password())], "wrong": 1},
        ),
        "confirm-passkey": (
            "confirm.html",
            {
                "text": "Use your passkey or security key to continue.",
                **_passkey(by_passkey, main=True),
                "back": "#",
            },
        ),
        "log-out": ("log_out.html", {}),
        "signed-out": ("signed_out.html", {"log_in": "#"}),
    }


def _of_links() -> _States:
    """What a mailed link opens, and the results of links and of providers."""
    done = {"heading": "Your password was changed", "text": "Sign in with it.", "home_url": "#"}
    joined = {"heading": "Invitation accepted", "text": "You are signed in."}
    dead = {"heading": "This link does not work", "text": "It was used before.", "failed": True}
    broken = {"heading": "Something went wrong", "text": "Try again later.", "failed": True}
    link = {"token": Secret("x"), "action": "#", "email": EMAIL, "account": EMAIL}
    choice = {**link, "password_rules": password_rules.rules_for()}
    invited = "accept_invitation.html"
    secure = "authservice/core/secure_account.html"
    acme = {**choice, "organization": "Acme"}
    deletion = "delete_account.html"
    errors = {"name": _ERROR, "password": _ERROR}
    last_owner = "You own an organization that has other members."
    states: _States = {
        "result": ("result.html", done),
        "result-joined": ("result.html", {**joined, "home_url": "#", "organizations": "#"}),
        "result-failed": ("result.html", {**broken, "log_in": "#"}),
        "result-unavailable": (
            "result.html",
            {
                "heading": "This page asks for more",
                "text": "Your account has only one factor.",
                "failed": True,
                "onward": ("#", "Set it up"),
            },
        ),
        "result-signup-refused": (
            "result.html",
            {
                "heading": "Your account was created",
                "text": "Your account is waiting for approval.",
                "onward": ("#", "Back to sign in"),
            },
        ),
        "result-dead-link": ("result.html", {**dead, "renew": "#", "log_in": "#"}),
        "reset-password": ("reset_password.html", choice),
        "reset-password-error": (
            "reset_password.html",
            {**choice, "errors": {"new_password": _ERROR}},
        ),
        "invitation": (invited, acme),
        "invitation-error": (invited, {**acme, "errors": errors, "wrong": len(errors)}),
        "invitation-of-user": (invited, {**acme, "has_account": True}),
        "invitation-to-project": (invited, choice),
        "verify-email": ("verify_email.html", link),
        "change-email": ("change_email.html", link),
        "delete-account": (deletion, link),
        "delete-account-done": (deletion, {"state": "done"}),
        "delete-account-failed": (deletion, {"state": "failed", "message": last_owner}),
        "secure-account": (secure, link),
        "secure-account-done": (secure, {"state": "done"}),
        "secure-account-failed": (secure, {"state": "failed"}),
    }
    if calls.exists("magic-link-verify"):
        states["magic-link"] = ("authservice/magiclink/confirm.html", link)
    return states


def _of_forms() -> _States:
    """The forms of the account, and what follows on them."""
    password, code = form_fields.password(), form_fields.CODE
    deletion = Form(
        name="x",
        title="Delete your account?",
        text="Your account and everything in it are deleted for good. This cannot be undone.",
        button="Delete my account",
        send=_nothing,
        danger=True,
    )
    of_project = Form(name="x", title="Details", button="Save", send=_nothing)
    form = {"form": deletion, "text": deletion.text, "fields": [password], "back": "#"}
    again = button("Sign in again", main=True)
    return {
        "account-form": ("account_form.html", form),
        "account-form-error": (
            "account_form.html",
            {**form, "fields": [_refused(password)], "wrong": 1},
        ),
        "account-form-again": (
            "account_form.html",
            {**form, "alert": "Sign in again first.", "action": again},
        ),
        "account-form-fields": (
            "account_form.html",
            {"form": of_project, "fields": _of_project(), "back": "#"},
        ),
        "account-form-fields-error": (
            "account_form.html",
            {
                "form": of_project,
                "fields": [_refused(field) for field in _of_project()],
                "wrong": len(_of_project()),
                "back": "#",
            },
        ),
        "account-factor": (
            "account_factor.html",
            {"setup": _SETUP, "fields": [code], "action": "#", "back": "#"},
        ),
        "account-factor-error": (
            "account_factor.html",
            {"setup": _SETUP, "fields": [_refused(code)], "wrong": 1, "action": "#", "back": "#"},
        ),
        "account-passkey": (
            "account_passkey.html",
            {**_passkey("Create the passkey", main=True), "back": "#"},
        ),
        "account-codes": (
            "account_codes.html",
            {"renewed": {"backup_codes": _CODES}, "back": "#"},
        ),
        "account-leave": ("account_leave.html", {"url": "#", "name": "Acme", "back": "#"}),
    }


def _passkey(button: str, *, main: bool = False) -> dict[str, Any]:
    options = '{"challenge": "AA", "timeout": 300000}'
    form = PasskeyForm(
        kind="get", options=options, button=button, hidden={"x": Secret("x")}, main=main
    )
    return passkey_forms.shown(form)


def _refused(typed: Field) -> Field:
    return replace(typed, error=_ERROR)


def _of_project() -> list[Field]:
    """Fields of each kind that a serializer of the project may have."""
    sizes = [("s", "Small"), ("m", "Medium"), ("l", "Large")]
    news = [("offers", "Offers"), ("orders", "My orders")]
    return [
        Field(name="size", label="Size", type=form_fields.SELECT, choices=sizes, value="m"),
        Field(
            name="color",
            label="Colour",
            type=form_fields.SELECT,
            choices=[("red", "Red")],
            required=False,
            hint="Of the box.",
        ),
        Field(name="news", label="Mails", type=form_fields.SEVERAL, choices=news, value=["orders"]),
        Field(
            name="terms",
            label="I agree to the terms",
            type=form_fields.CHECKBOX,
            hint="You can read them below.",
        ),
        Field(
            name="birthday",
            label="Birthday",
            type="date",
            value="2000-02-29",
            hint="For a present.",
            link=("#", "Why?"),
        ),
    ]


def _nothing(*_: Any) -> Any:
    raise NotFound
