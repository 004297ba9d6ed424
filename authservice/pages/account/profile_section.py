"""Profile: names, address, username and phone number, and the deletion of the account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from authservice.core.conf import core
from authservice.core.users.user_model import host
from authservice.kernel.phrases import page_text as _
from authservice.pages import calls, form_fields
from authservice.pages.account_pages import url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor


def proof(visitor: Visitor) -> list[Field]:
    """The fields by which an owner proves the account: the password, if there is one, and a code of
    the second factor, if there is one."""
    found = []
    if visitor.person.user.has_usable_password():
        found.append(form_fields.password(label=_("Your password")))
        if calls.exists("2fa-status") and visitor.data("2fa-status")["enabled"]:
            found.append(replace(form_fields.CODE, hint=_("Of your authenticator app.")))
    return found


class Profile(AccountSection):
    """The section of the routes of core."""

    name, icon = "profile", "person"

    def label(self) -> Any:
        return _("Profile")

    def intro(self) -> Any:
        return _("Who you are, and how others see you.")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        me = visitor.data("me")
        rows = [
            Row(
                label=_("Name"),
                value=me["name"] or _full_name(me) or _("Not set"),
                actions=[_change("name", _("name"))],
            ),
            *([_email(me)] if host().email or me["email"] else []),
            *([_username(me)] if host().username not in ("", host().email) else []),
            _phone(me),
        ]
        boxes = [Box(title=_("About you"), rows=rows)]
        if own := form_fields.of_profile(visitor.person.user):
            shown = [Row(label=one.label, value=_shown(one)) for one in own]
            change = _change("details", _("details"))
            boxes.append(Box(title=_("Details"), rows=shown, actions=[change]))
        if core.allow_self_delete:
            text = _("Deletes your account and everything in it, for good.")
            delete = Action(label=_("Delete account"), url=url_of("profile", "delete"), danger=True)
            boxes.append(Box(title=_("Delete account"), text=text, actions=[delete]))
        return boxes

    forms = (
        Form(
            name="name",
            title=_("Your name"),
            button=_("Save"),
            done=_("Your name was changed."),
            fields=lambda visitor: [
                Field(
                    name="name",
                    label=_("Name"),
                    autocomplete="name",
                    required=False,
                    value=visitor.person.ours.name,
                )
            ],
            send=lambda visitor, body: visitor.call("profile", "PATCH", body),
        ),
        Form(
            name="details",
            title=_("Details"),
            button=_("Save"),
            done=_("Your details were changed."),
            fields=lambda visitor: form_fields.of_profile(visitor.person.user),
            send=lambda visitor, body: visitor.call("profile", "PATCH", body),
        ),
        Form(
            name="email",
            title=_("Change your e-mail address"),
            text=_("We mail a link to the new address. Nothing changes until you open it."),
            button=_("Send the link"),
            done=_("Open the link that we mailed to your new address."),
            fields=lambda visitor: [
                replace(form_fields.EMAIL, label=_("New e-mail address")),
                *proof(visitor),
            ],
            send=lambda visitor, body: visitor.call("change-email", "POST", body),
        ),
        Form(
            name="confirm-email",
            title=_("Confirm your address"),
            text=_("We mail you a link that confirms your e-mail address."),
            button=_("Send the mail"),
            done=_("Open the link in the mail."),
            send=lambda visitor, body: visitor.call(
                "send-verification-email", "POST", {"email": visitor.person.email}
            ),
        ),
        Form(
            name="username",
            title=_("Change your username"),
            button=_("Save"),
            done=_("Your username was changed."),
            fields=lambda visitor: [
                form_fields.username(),
                *proof(visitor),
            ],
            send=lambda visitor, body: visitor.call("change-username", "PUT", body),
        ),
        Form(
            name="phone",
            title=_("Your phone number"),
            button=_("Save"),
            done=_("Your phone number was changed."),
            fields=lambda visitor: [
                Field(
                    name="phone",
                    label=_("Phone number"),
                    type="tel",
                    autocomplete="tel",
                    hint=_("With the country code, such as +49 170 1234567."),
                    required=False,
                    value=visitor.person.ours.phone_number,
                ),
                *proof(visitor)[:1],
            ],
            send=lambda visitor, body: visitor.call("profile", "PATCH", body),
        ),
        Form(
            name="phone-code",
            title=_("Confirm your phone number"),
            text=_("Enter the code that we sent to your phone."),
            button=_("Confirm"),
            done=_("Your phone number is confirmed."),
            fields=lambda visitor: [form_fields.CODE],
            send=lambda visitor, body: visitor.call(
                "verify-phone", "POST", {**body, "phone": visitor.person.ours.phone_number}
            ),
        ),
        Form(
            name="phone-send",
            title=_("Confirm your phone number"),
            text=_("We send a code to your phone."),
            button=_("Send the code"),
            send=lambda visitor, body: visitor.call(
                "send-verification-phone", "POST", {"phone": visitor.person.ours.phone_number}
            ),
            after=lambda visitor, answer: visitor.go(url_of("profile", "phone-code")),
        ),
        Form(
            name="delete",
            title=_("Delete your account?"),
            text=_(
                "Your account and everything in it are deleted for good. This cannot be undone."
            ),
            button=_("Delete my account"),
            danger=True,
            fields=proof,
            send=lambda visitor, body: visitor.call("delete-me", "POST", body),
            after=lambda visitor, answer: _deleted(visitor, answer),
        ),
    )


def _change(form: str, about: Any) -> Action:
    return Action(label=_("Change"), about=about, url=url_of("profile", form))


def _email(me: Mapping[str, Any]) -> Row:
    actions = [_change("email", _("e-mail"))]
    if me["email"] and not me["email_verified"]:
        actions.insert(0, Action(label=_("Confirm"), url=url_of("profile", "confirm-email")))
    return Row(
        label=_("E-mail"),
        value=me["email"] or _("Not set"),
        actions=actions,
        **_tag(bool(me["email"]), me["email_verified"]),
    )


def _username(me: Mapping[str, Any]) -> Row:
    return Row(
        label=form_fields.username().label,
        value=me["username"],
        actions=[_change("username", _("username"))],
    )


def _phone(me: Mapping[str, Any]) -> Row:
    number, proven = me["phone_number"], me["phone_number_verified"]
    actions = [_change("phone", _("phone number"))]
    if number and not proven:
        actions.insert(0, Action(label=_("Confirm"), url=url_of("profile", "phone-send")))
    return Row(
        label=_("Phone number"),
        value=number or _("Not set"),
        actions=actions,
        **_tag(bool(number), proven),
    )


def _tag(given: bool, proven: bool) -> dict[str, Any]:
    if not given:
        return {}
    return {
        "tag": _("Confirmed") if proven else _("Not confirmed"),
        "tone": "good" if proven else "warn",
    }


def _full_name(me: Mapping[str, Any]) -> str:
    return f"{me['first_name']} {me['last_name']}".strip()


def _shown(one: Field) -> Any:
    if one.type == form_fields.CHECKBOX:
        return _("Yes") if one.value else _("No")
    labels = {str(value): label for value, label in one.choices}
    return labels.get(str(one.value), one.value) or _("Not set")


def _deleted(visitor: Visitor, answer: Answer) -> Any:
    """A user without a password gets a mail first, and is still signed in."""
    if visitor.person.user.has_usable_password():
        return visitor.go(visitor.url("page-logout"))
    return visitor.go(url_of("profile"), answer.data["message"])


section = Profile()
