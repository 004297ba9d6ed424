"""Profile: names, address, username and phone number, and the deletion of the account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from authservice.core.conf import core
from authservice.core.users.user_model import host
from authservice.kernel.languages import page_text as _
from authservice.pages import calls, form_fields
from authservice.pages.account_pages import url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor


def proof(visitor: Visitor) -> list[Field]:
    """The fields with which users prove that the account is theirs: the password, if there is one,
    and a code of the second factor, if there is one."""
    fields = []
    if visitor.person.user.has_usable_password():
        fields.append(form_fields.password(label=_("Your password")))
        if calls.exists("2fa-status") and visitor.data("2fa-status")["enabled"]:
            fields.append(replace(form_fields.CODE, hint=_("Of your authenticator app.")))
    return fields


class Profile(AccountSection):
    """The section of the routes of core."""

    name, icon = "profile", "person"

    def label(self) -> Any:
        return _("Profile")

    def intro(self) -> Any:
        return _("Who you are, and how others see you.")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        me = visitor.data("me")
        name = me["name"] or f"{me['first_name']} {me['last_name']}".strip() or _("Not set")
        rows = [Row(label=_("Name"), value=name, actions=[_change("name", _("name"))])]
        if host().email or me["email"]:
            change = _change("email", _("e-mail"))
            proven = me["email_verified"]
            rows.append(_confirmable(_("E-mail"), me["email"], proven, "confirm-email", change))
        if _has_username():
            change = _change("username", _("username"))
            label = form_fields.username().label
            rows.append(Row(label=label, value=me["username"], actions=[change]))
        change = _change("phone", _("phone number"))
        proven = me["phone_number_verified"]
        number = me["phone_number"]
        rows.append(_confirmable(_("Phone number"), number, proven, "phone-send", change))
        boxes = [Box(title=_("About you"), rows=rows)]
        if fields := _details(visitor):
            rows = [Row(label=field.label, value=_shown(field)) for field in fields]
            change = _change("details", _("details"))
            boxes.append(Box(title=_("Details"), rows=rows, actions=[change]))
        boxes.append(
            Box(
                title=_("Your data"),
                text=_("Everything that is stored about you, as a file."),
                actions=[Action(label=_("Download"), url=url_of("profile", "export"))],
            )
        )
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
                    value=visitor.person.account_row.name,
                )
            ],
            send=lambda visitor, body: visitor.call("profile", "PATCH", body),
        ),
        Form(
            name="details",
            title=_("Details"),
            button=_("Save"),
            done=_("Your details were changed."),
            is_offered=lambda visitor: bool(_details(visitor)),
            fields=lambda visitor: _details(visitor),
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
            text=_("We will e-mail you a link that confirms your e-mail address."),
            button=_("Send the mail"),
            done=_("Open the link in the mail."),
            send=lambda visitor, body: visitor.call(
                "send-verification-email", "POST", {"email": visitor.person.email}
            ),
        ),
        Form(
            name="username",
            title=_("Change your username"),
            is_offered=lambda visitor: _has_username(),
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
                replace(form_fields.PHONE, value=visitor.person.account_row.phone_number),
                # The password alone: this route takes no code.
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
            fields=lambda visitor: [form_fields.MAILED_CODE],
            send=lambda visitor, body: visitor.call(
                "verify-phone", "POST", {**body, "phone": visitor.person.account_row.phone_number}
            ),
        ),
        Form(
            name="phone-send",
            title=_("Confirm your phone number"),
            text=_("We send a code to your phone."),
            button=_("Send the code"),
            send=lambda visitor, body: visitor.call(
                "send-verification-phone",
                "POST",
                {"phone": visitor.person.account_row.phone_number},
            ),
            after=lambda visitor, answer: visitor.go(url_of("profile", "phone-code")),
        ),
        Form(
            name="export",
            title=_("Your data"),
            text=_(
                "A file with everything that is stored about you. You can download it once an hour."
            ),
            button=_("Download"),
            send=lambda visitor, body: visitor.call("export-me", "GET"),
            after=lambda visitor, answer: answer.response,
        ),
        Form(
            name="delete",
            title=_("Delete your account?"),
            text=_(
                "Your account and everything in it are deleted for good. This cannot be undone."
            ),
            button=_("Delete my account"),
            danger=True,
            is_offered=lambda visitor: core.allow_self_delete,
            fields=proof,
            send=lambda visitor, body: visitor.call("delete-me", "POST", body),
            after=lambda visitor, answer: _deleted(visitor, answer),
        ),
    )


def _details(visitor: Visitor) -> list[Field]:
    """The project's own fields of a profile."""
    return form_fields.of_profile(visitor.person.user)


def _has_username() -> bool:
    return host().username not in ("", host().email)


def _change(form: str, about: Any) -> Action:
    return Action(label=_("Change"), about=about, url=url_of("profile", form))


def _confirmable(label: Any, value: str, proven: bool, form: str, change: Action) -> Row:
    """A row whose value is confirmed with `form`."""
    if not value:
        return Row(label=label, value=_("Not set"), actions=[change])
    if proven:
        return Row(label=label, value=value, actions=[change], tag=_("Confirmed"), tone="good")
    confirm = Action(label=_("Confirm"), url=url_of("profile", form))
    actions = [confirm, change]
    return Row(label=label, value=value, actions=actions, tag=_("Not confirmed"), tone="warn")


def _shown(field: Field) -> Any:
    """The value of a field as people read it."""
    if field.type == form_fields.CHECKBOX:
        return _("Yes") if field.value else _("No")
    labels = {str(value): label for value, label in field.choices}
    return labels.get(str(field.value), field.value) or _("Not set")


def _deleted(visitor: Visitor, answer: Answer) -> Any:
    """Where the form leads. A user without a password has to confirm by a mail first, and is still
    signed in."""
    if visitor.person.user.has_usable_password():
        return visitor.go(visitor.url("page-logout"), _("Your account was deleted."))
    return visitor.go(url_of("profile"), answer.data["message"])


section = Profile()
