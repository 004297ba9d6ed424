"""Security: the password, the second factor, and linked providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse

from authservice.kernel.phrases import page_count
from authservice.kernel.phrases import page_text as _
from authservice.pages import calls, form_fields
from authservice.pages.account_pages import frame, shown, url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.login_pages import provider_label
from authservice.pages.visitor import Visitor

_OF_APP = _("Of your authenticator app.")
_FEW = 4


class Security(AccountSection):
    """The section of core, twofactor and oauth."""

    name, icon = "security", "shield"

    def label(self) -> Any:
        return _("Security")

    def intro(self) -> Any:
        return _("How you sign in, and what protects your account.")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        return [
            _password(visitor),
            *([_factor(visitor)] if calls.exists("2fa-status") else []),
            *([_providers(visitor)] if calls.exists("oauth-linked") else []),
        ]

    forms = (
        Form(
            name="password",
            title=_("Change your password"),
            text=_("You stay signed in here, and are signed out everywhere else."),
            button=_("Change the password"),
            done=_("Your password was changed."),
            fields=lambda visitor: [
                form_fields.password("old_password", _("Current password")),
                form_fields.new_password("new_password", _("New password")),
            ],
            send=lambda visitor, body: visitor.call("change-password", "PUT", body),
        ),
        Form(
            name="set-password",
            title=_("Set a password"),
            text=_("We mail you a link to choose one."),
            button=_("Send the mail"),
            done=_("Open the link in the mail."),
            send=lambda visitor, body: visitor.call(
                "forgot-password", "POST", {"email": visitor.person.email}
            ),
        ),
        Form(
            name="factor",
            needs="2fa-setup",
            title=_("Turn on the second factor"),
            text=_(
                "You need an app on your phone that shows codes, such as Google Authenticator,"
                " 1Password or Aegis."
            ),
            button=_("Continue"),
            fields=lambda visitor: _password_proof(visitor),
            send=lambda visitor, body: visitor.call("2fa-setup", "POST", body),
            after=lambda visitor, answer: _set_up(visitor, answer),
        ),
        Form(
            name="factor-code",
            needs="2fa-verify",
            title=_("Turn on the second factor"),
            text=_("Enter the code that the app shows now."),
            button=_("Turn on"),
            done=_("The second factor is on. You were signed out everywhere else."),
            fields=lambda visitor: [form_fields.CODE],
            send=lambda visitor, body: visitor.call("2fa-verify", "POST", body),
        ),
        Form(
            name="factor-off",
            needs="2fa-disable",
            title=_("Turn off the second factor?"),
            text=_("Your password alone will then be enough to sign in."),
            button=_("Turn off"),
            danger=True,
            done=_("The second factor is off."),
            fields=lambda visitor: [replace(form_fields.CODE, hint=_OF_APP)],
            send=lambda visitor, body: visitor.call("2fa-disable", "POST", body),
        ),
        Form(
            name="backup-codes",
            needs="2fa-backup-codes",
            title=_("New backup codes"),
            text=_("Your old backup codes stop working."),
            button=_("Make new codes"),
            fields=lambda visitor: [replace(form_fields.CODE, hint=_OF_APP)],
            send=lambda visitor, body: visitor.call("2fa-backup-codes", "POST", body),
            after=lambda visitor, answer: _codes(visitor, answer),
        ),
        Form(
            name="link",
            needs="oauth-link",
            title=_("Link a way to sign in"),
            text=_("You can sign in with it then, besides your password."),
            button=_("Continue"),
            fields=lambda visitor: _password_proof(visitor),
            send=lambda visitor, body: visitor.call(
                "oauth-link", "POST", body, path={"provider": visitor.request.GET.get("id", "")}
            ),
            after=lambda visitor, answer: _leave_to(visitor, answer),
        ),
        Form(
            name="unlink",
            needs="oauth",
            title=_("Remove this way to sign in?"),
            text=_("You will no longer be able to sign in with it."),
            button=_("Remove"),
            danger=True,
            send=lambda visitor, body: visitor.call(
                "oauth", "DELETE", path={"provider": visitor.request.GET.get("id", "")}
            ),
        ),
    )


def _password(visitor: Visitor) -> Box:
    if visitor.person.user.has_usable_password():
        change = Action(label=_("Change"), about=_("password"), url=url_of("security", "password"))
        row = Row(label=_("Password"), value=_("Set"), actions=[change])
    else:
        add = Action(label=_("Set a password"), url=url_of("security", "set-password"))
        actions = [add] if visitor.person.email else []
        row = Row(label=_("Password"), value=_("Not set"), actions=actions)
    return Box(title=_("Sign-in"), rows=[row])


def _factor(visitor: Visitor) -> Box:
    status = visitor.data("2fa-status")
    title = _("Second factor")
    text = _("A code from your phone, asked after the password.")
    if not status["enabled"]:
        on = Action(label=_("Turn on"), url=url_of("security", "factor"), main=True)
        return Box(title=title, text=text, tag=_("Off"), tone="warn", actions=[on])
    left = status["backup_codes_remaining"]
    few = left < _FEW
    rows = [
        Row(
            label=_("Authenticator app"),
            value=_("Set up"),
            actions=[
                Action(label=_("Turn off"), url=url_of("security", "factor-off"), danger=True)
            ],
        ),
        Row(
            label=_("Backup codes"),
            value=page_count("%(count)d left", "%(count)d left", left),
            tag=_("Few left") if few else "",
            tone="warn",
            actions=[Action(label=_("Make new codes"), url=url_of("security", "backup-codes"))],
        ),
    ]
    return Box(title=title, text=text, tag=_("On"), tone="good", rows=rows)


def _providers(visitor: Visitor) -> Box:
    linked = visitor.data("oauth-linked")["providers"]
    known = [one["name"] for one in visitor.data("oauth-providers")["providers"] if one["enabled"]]
    rows = [
        Row(
            label=provider_label(name),
            value=_("Linked"),
            actions=[
                Action(
                    label=_("Remove"),
                    about=provider_label(name),
                    danger=True,
                    url=f"{url_of('security', 'unlink')}?id={name}",
                )
            ],
        )
        for name in linked
    ]
    rows += [
        Row(
            label=provider_label(name),
            value=_("Not linked"),
            actions=[
                Action(
                    label=_("Link"),
                    about=provider_label(name),
                    url=f"{url_of('security', 'link')}?id={name}",
                )
            ],
        )
        for name in known
        if name not in linked
    ]
    return Box(
        title=_("Other ways to sign in"), rows=rows, empty=_("There are none in this project.")
    )


def _password_proof(visitor: Visitor) -> list[Field]:
    if not visitor.person.user.has_usable_password():
        return []
    return [form_fields.password(label=_("Your password"))]


def _this() -> AccountSection:
    return next(one for one in shown() if isinstance(one, Security))


def _set_up(visitor: Visitor, answer: Answer) -> HttpResponse:
    context: Mapping[str, Any] = {
        "setup": answer.data,
        "fields": [form_fields.CODE.shown(None, {})],
        "action": url_of("security", "factor-code"),
        "back": url_of("security"),
    }
    return frame(visitor, _this(), "account_factor.html", context)


def _codes(visitor: Visitor, answer: Answer) -> HttpResponse:
    context = {"renewed": answer.data, "back": url_of("security")}
    return frame(visitor, _this(), "account_codes.html", context)


def _leave_to(visitor: Visitor, answer: Answer) -> HttpResponse:
    """A link rather than a redirect: the policy of a page lets its forms lead to no other site."""
    context = {
        "url": answer.data["url"],
        "name": provider_label(visitor.request.GET.get("id", "")),
        "back": url_of("security"),
    }
    return frame(visitor, _this(), "account_leave.html", context)


section = Security()
