"""Security: the password, passkeys, the second factor, and linked providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse

from authservice.core.errors import StepUpRequired
from authservice.kernel.errors import Fault, NotFound, ReauthenticationRequired
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.languages import page_count
from authservice.kernel.languages import page_text as _
from authservice.kernel.modules import plugs
from authservice.pages import calls, form_errors, form_fields, passkey_forms, provider_marks
from authservice.pages.account.device_section import ago, device
from authservice.pages.account_pages import frame, shown, url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer, Values
from authservice.pages.form_fields import CHECKBOX, Field
from authservice.pages.login_pages import provider_label
from authservice.pages.visitor import Visitor, status_of

_PASSKEYS, _PASSKEY, _PASSKEY_OPTIONS = "passkeys", "passkey", "passkey-options"
_STATUS = "2fa-status"
_OF_APP = _("Of your authenticator app.")
_FEW = 4  # fewer backup codes than these get a warning


def _new_passkey_fields(visitor: Visitor) -> list[Field]:
    suggested = device(visitor.request.META.get("HTTP_USER_AGENT", ""))
    return [_name_field(suggested), *_factor_field(on=False)]


def _passkey_change_fields(visitor: Visitor) -> list[Field]:
    passkey = _chosen_passkey(visitor)
    # A key that does not verify its user can only be a second factor, so there is no choice.
    factor = _factor_field(on=passkey["second_factor"]) if passkey["verifies"] else []
    return [_name_field(passkey["name"]), *factor]


def _name_field(value: str) -> Field:
    hint = _("You see this name in the list.")
    return Field(name="name", label=_("Name"), hint=hint, value=value)


def _factor_field(*, on: bool) -> list[Field]:
    """The field `second_factor`, or nothing if the twofactor module is not installed."""
    if not calls.exists(_STATUS):
        return []
    return [
        Field(
            name="second_factor",
            label=_("Also use it as the second step after the password"),
            type=CHECKBOX,
            hint=_("A security key without a PIN can only be used this way."),
            required=False,
            value=on,
        )
    ]


def _chosen_passkey(visitor: Visitor) -> Mapping[str, Any]:
    """The passkey that the address of the page names. Raises `NotFound`."""
    passkey_id = visitor.request.GET.get("id", "")
    rows: list[Mapping[str, Any]] = visitor.data(_PASSKEYS)
    for passkey in rows:
        if passkey["id"] == passkey_id:
            return passkey
    raise NotFound


def _add_passkey(visitor: Visitor, body: Mapping[str, Any]) -> Answer:
    """The form is sent twice: first to get the options for the browser, then with the credential
    that the browser created."""
    if not (credential := passkey_forms.credential_of(visitor.sent)):
        choice = {"second_factor": body.get("second_factor", False)}
        return visitor.call(_PASSKEY_OPTIONS, "POST", choice)
    token = visitor.sent.get("request_token")
    return visitor.call(_PASSKEYS, "POST", Values(body, request_token=token, credential=credential))


def _passkey_added(visitor: Visitor, answer: Answer) -> HttpResponse:
    """After the options, the page on which the browser creates the passkey; then back."""
    if "options" not in answer.data:
        return visitor.go(visitor.next or url_of("security"), _("The passkey was added."))
    sent_back = {
        "name": visitor.sent.get("name"),
        "second_factor": visitor.sent.get("second_factor"),
    }
    context = {
        **passkey_forms.shown(passkey_forms.of_creation(answer.data, sent_back)),
        "back": visitor.next or url_of("security"),
    }
    return frame(visitor, _this(), "account_passkey.html", context)


def _change_passkey(visitor: Visitor, body: Mapping[str, Any]) -> Answer:
    """Send only what was changed: another name needs no proof, but `second_factor` does."""
    before = _chosen_passkey(visitor)
    path = {"passkey_id": visitor.request.GET.get("id", "")}
    changed = {name: value for name, value in body.items() if value != before[name]}
    return visitor.call(_PASSKEY, "PUT", changed, path=path)


def _removal_text(visitor: Visitor) -> Any:
    """What the removal of this passkey changes: it may be all that answers a second step."""
    factors = plugs(SecondFactor)
    has_another = any(
        factor.method != passkey_forms.METHOD and factor.is_enabled(visitor.person)
        for factor in factors
    )
    is_required = any(factor.is_required(visitor.person) for factor in factors)
    # Without the twofactor module no login asks for a second step.
    passkeys = visitor.data(_PASSKEYS) if calls.exists(_STATUS) else []
    asked_for = [entry["id"] for entry in passkeys if entry["second_factor"] or is_required]
    if has_another or asked_for != [visitor.request.GET.get("id", "")]:
        return _("You will no longer be able to sign in with it.")
    if is_required:
        return _(
            "You will no longer be able to sign in with it. It is your only second step, so you set"
            " up another one when you next sign in."
        )
    return _(
        "You will no longer be able to sign in with it. It is your only second step, so two-factor"
        " authentication will be off."
    )


_PASSKEY_FORMS = (
    Form(
        name="passkey",
        needs=_PASSKEY_OPTIONS,
        title=_("Add a passkey"),
        text=_(
            "Then you sign in with your finger, your face or a PIN instead of a password. A false"
            " page cannot get it from you."
        ),
        button=_("Continue"),
        fields=_new_passkey_fields,
        send=_add_passkey,
        after=_passkey_added,
    ),
    Form(
        name="passkey-change",
        needs=_PASSKEY,
        title=_("Change the passkey"),
        button=_("Save"),
        done=_("The passkey was changed."),
        fields=_passkey_change_fields,
        send=_change_passkey,
    ),
    Form(
        name="passkey-remove",
        needs=_PASSKEY,
        title=_("Remove this passkey?"),
        text=_removal_text,
        button=_("Remove"),
        danger=True,
        send=lambda visitor, body: visitor.call(
            _PASSKEY, "DELETE", path={"passkey_id": visitor.request.GET.get("id", "")}
        ),
    ),
)


class Security(AccountSection):
    """The section of core, passkeys, twofactor and oauth."""

    name, icon = "security", "shield"

    def label(self) -> Any:
        return _("Security")

    def intro(self) -> Any:
        return _("How you sign in, and what protects your account.")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        if visitor.person.user.has_usable_password():
            url = url_of("security", "password")
            change = Action(label=_("Change"), about=_("password"), url=url)
            row = Row(label=_("Password"), value=_("Set"), actions=[change])
        else:
            add = Action(label=_("Set a password"), url=url_of("security", "set-password"))
            actions = [add] if visitor.person.email else []
            row = Row(label=_("Password"), value=_("Not set"), actions=actions)
        has_passkeys = passkey_forms.are_installed()
        passkeys = visitor.data(_PASSKEYS) if has_passkeys else []
        return [
            Box(title=_("Sign-in"), rows=[row]),
            *([_passkeys(passkeys)] if has_passkeys else []),
            *([_factor(visitor, passkeys)] if calls.exists(_STATUS) else []),
            *([_providers(visitor)] if calls.exists("oauth-linked") else []),
        ]

    def context(self, visitor: Visitor) -> Mapping[str, Any]:
        if not passkey_forms.are_installed():
            return {}
        return {"signals": passkey_forms.signals(visitor), "script": passkey_forms.script()}

    forms = (
        *_PASSKEY_FORMS,
        Form(
            name="password",
            title=_("Change your password"),
            text=_("You stay signed in here, and are signed out everywhere else."),
            button=_("Change the password"),
            done=_("Your password was changed."),
            fields=lambda visitor: [
                form_fields.password("old_password", _("Current password")),
                form_fields.new_password(
                    "new_password", _("New password"), user=visitor.person.user
                ),
            ],
            send=lambda visitor, body: visitor.call("change-password", "PUT", body),
        ),
        Form(
            name="set-password",
            title=_("Set a password"),
            text=_("We will e-mail you a link to choose one."),
            button=_("Send the mail"),
            done=_("Open the link in the mail."),
            send=lambda visitor, body: visitor.call(
                "forgot-password", "POST", {"email": visitor.person.email}
            ),
        ),
        Form(
            name="factor",
            needs="2fa-setup",
            title=_("Set up an authenticator app"),
            text=_(
                "You need an app on your phone that shows codes, such as Google Authenticator,"
                " 1Password or Aegis."
            ),
            button=_("Continue"),
            fields=lambda visitor: _password_proof(visitor),
            send=lambda visitor, body: visitor.call("2fa-setup", "POST", body),
            after=lambda visitor, answer: _set_up(visitor, answer.data),
        ),
        Form(
            name="factor-code",
            needs="2fa-verify",
            title=_("Set up an authenticator app"),
            text=_("Enter the code that the app shows now."),
            button=_("Turn on"),
            done=_("Two-factor authentication is on. You were signed out everywhere else."),
            fields=lambda visitor: [form_fields.CODE],
            send=lambda visitor, body: visitor.call("2fa-verify", "POST", body),
            again=lambda visitor, fault: _set_up_again(visitor, fault),
        ),
        Form(
            name="factor-off",
            needs="2fa-disable",
            title=_("Remove the authenticator app?"),
            # Also right for users who are asked for a passkey then, or must set up a new app.
            text=_(
                "Signing in will no longer ask for its codes, and your backup codes stop working."
                " To use another phone, set it up afterwards."
            ),
            button=_("Remove"),
            danger=True,
            done=_("The authenticator app was removed."),
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
            after=lambda visitor, answer: frame(
                visitor,
                _this(),
                "account_codes.html",
                {"renewed": answer.data, "back": url_of("security")},
            ),
        ),
        Form(
            name="link",
            needs="oauth-link",
            title=_("Connect a way to sign in"),
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


def _passkeys(passkeys: Sequence[Mapping[str, Any]]) -> Box:
    asks_for_factors = calls.exists(_STATUS)
    rows = []
    for passkey in passkeys:
        name = passkey["name"]
        query = f"?id={passkey['id']}"
        last_used = passkey["last_used_at"]
        hints = (
            _("Added %(when)s") % {"when": ago(passkey["created_at"])},
            _("Last used %(when)s") % {"when": ago(last_used)} if last_used else _("Never used"),
            _("Backed up") if passkey["backed_up"] else "",
            "" if passkey["verifies"] else _("Only after the password"),
        )
        change_url = url_of("security", "passkey-change") + query
        remove_url = url_of("security", "passkey-remove") + query
        row = Row(
            label=name,
            hint=" · ".join(str(hint) for hint in hints if hint),
            tag=_("Two-factor") if passkey["second_factor"] and asks_for_factors else "",
            tone="good",
            icon="key",
            actions=[
                Action(label=_("Edit"), about=name, url=change_url),
                Action(label=_("Remove"), about=name, danger=True, url=remove_url),
            ],
        )
        rows.append(row)
    add = Action(label=_("Add a passkey"), url=url_of("security", "passkey"), main=not rows)
    return Box(
        title=_("Passkeys"),
        text=_("Sign in with the lock of your phone or computer, or with a security key."),
        rows=rows,
        actions=[add],
        empty=_("You have none yet."),
    )


def _factor(visitor: Visitor, passkeys: Sequence[Mapping[str, Any]]) -> Box:
    """Whether a login asks for a second step, and the methods that answer it: the app of the status
    of the API is only one of them."""
    status = visitor.data(_STATUS)
    has_app = status["enabled"]
    factors = plugs(SecondFactor)
    is_required = any(factor.is_required(visitor.person) for factor in factors)
    # A login that asks for a passkey takes any of them. It asks if one is chosen for that, or if a
    # second step is required of a user without an app.
    takes_any = any(entry["second_factor"] for entry in passkeys) or (is_required and not has_app)
    passkeys_asked_for = passkeys if takes_any else []
    of_project = [
        factor
        for factor in factors
        if factor.method not in (SecondFactor.method, passkey_forms.METHOD)
        and factor.is_enabled(visitor.person)
    ]
    is_on = bool(has_app or passkeys_asked_for or of_project)
    rows = [_app(has_app=has_app, is_on=is_on)]
    if passkeys_asked_for:
        count = len(passkeys_asked_for)
        value = page_count("%(count)d passkey", "%(count)d passkeys", count)
        rows.append(Row(label=_("Passkeys"), value=value))
    elif passkeys:
        hint = _("Edit a passkey to use it here too.")
        rows.append(Row(label=_("Passkeys"), value=_("Not used"), hint=hint))
    rows += [Row(label=factor.label or factor.method, value=_("Set up")) for factor in of_project]
    if has_app:
        rows.append(_backup_codes(status["backup_codes_remaining"]))
    text = _("A second step after the password.")
    if is_required:
        text = _("Your account needs a second step after the password.")
    return Box(
        title=_("Two-factor authentication"),
        text=text,
        tag=_("On") if is_on else _("Off"),
        tone="good" if is_on else "warn",
        rows=rows,
    )


def _app(*, has_app: bool, is_on: bool) -> Row:
    label, about = _("Authenticator app"), _("authenticator app")
    if has_app:
        url = url_of("security", "factor-off")
        remove = Action(label=_("Remove"), about=about, url=url, danger=True)
        return Row(label=label, value=_("Set up"), actions=[remove])
    set_up = Action(
        label=_("Set it up"), about=about, url=url_of("security", "factor"), main=not is_on
    )
    hint = _("With backup codes, in case you lose your phone.")
    return Row(label=label, value=_("Not set up"), hint=hint, actions=[set_up])


def _backup_codes(remaining: int) -> Row:
    return Row(
        label=_("Backup codes"),
        value=page_count("%(count)d left", "%(count)d left", remaining),
        tag=_("Few left") if remaining < _FEW else "",
        tone="warn",
        actions=[Action(label=_("Make new codes"), url=url_of("security", "backup-codes"))],
    )


def _providers(visitor: Visitor) -> Box:
    linked = visitor.data("oauth-linked")["providers"]
    enabled = [
        provider["name"]
        for provider in visitor.data("oauth-providers")["providers"]
        if provider["enabled"]
    ]
    rows = [
        Row(
            label=provider_label(name),
            mark=provider_marks.of(name, provider_label(name)),
            tag=_("Connected"),
            tone="good",
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
            mark=provider_marks.of(name, provider_label(name)),
            hint=_("Not connected"),
            actions=[
                Action(
                    label=_("Connect"),
                    about=provider_label(name),
                    url=f"{url_of('security', 'link')}?id={name}",
                )
            ],
        )
        for name in enabled
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
    """This section, as the navigation has it."""
    return next(section for section in shown() if isinstance(section, Security))


def _set_up(visitor: Visitor, setup: Mapping[str, Any], fault: Fault | None = None) -> HttpResponse:
    """The page with the QR code, the secret and the backup codes, which asks for the first code."""
    errors = form_errors.of_form(visitor, fault, (form_fields.CODE,))
    context: Mapping[str, Any] = {
        "setup": setup,
        "packed": form_fields.packed(setup),
        "fields": [form_fields.CODE.shown(None, errors)],
        "alert": errors.get("", ""),
        "wrong": int("code" in errors),
        "action": url_of("security", "factor-code"),
        "back": url_of("security"),
    }
    return frame(visitor, _this(), "account_factor.html", context, status_of(fault))


def _set_up_again(visitor: Visitor, fault: Fault) -> HttpResponse | None:
    """The page of the set-up again, as after a wrong code. None if the form sent no set-up back, or
    if the user has to prove something first."""
    setup = form_fields.unpacked(visitor.sent)
    needs_proof = fault.code in (ReauthenticationRequired.code, StepUpRequired.code)
    return None if setup is None or needs_proof else _set_up(visitor, setup, fault)


def _leave_to(visitor: Visitor, answer: Answer) -> HttpResponse:
    """A page with a link to the provider rather than a redirect: the Content-Security-Policy of a
    page forbids that its forms lead to another site."""
    context = {
        "url": answer.data["url"],
        "name": provider_label(visitor.request.GET.get("id", "")),
        "back": url_of("security"),
    }
    return frame(visitor, _this(), "account_leave.html", context)


section = Security()
