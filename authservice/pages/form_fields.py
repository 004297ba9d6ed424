"""The fields of forms: what a template needs to show one, and how a browser fills it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.core import signing
from django.http import QueryDict
from rest_framework import serializers

from authservice.core.credentials import password_rules
from authservice.core.users import extra_fields, host_fields, identifiers
from authservice.core.users.user_model import host
from authservice.kernel import errors, secret, templates
from authservice.kernel.errors import Fault
from authservice.kernel.languages import page_count
from authservice.kernel.languages import page_text as _
from authservice.kernel.secret import Secret
from authservice.pages.calls import Values

CHECKBOX, SELECT, SEVERAL = "checkbox", "select", "several"
_SCRIPT = "authservice/pages/forms.js"
_SETUP = "setup"
# Types of fields that do not show the text that was sent again after an error.
_NOT_SHOWN = ("password", CHECKBOX)
# Types of fields by the class of a serializer's field; the first match applies.
_TYPES: tuple[tuple[type[Any], str], ...] = (
    (serializers.EmailField, "email"),
    (serializers.URLField, "url"),
    (serializers.BooleanField, CHECKBOX),
    (serializers.MultipleChoiceField, SEVERAL),
    (serializers.ManyRelatedField, SEVERAL),
    (serializers.ChoiceField, SELECT),
    (serializers.RelatedField, SELECT),
    (serializers.IntegerField, "number"),
    (serializers.DateTimeField, "datetime-local"),
    (serializers.DateField, "date"),
    (serializers.TimeField, "time"),
)
# Fields of errors that the API reports without a field, by code. The text goes to the first of them
# that the form has.
_FIELDS_OF = {
    "USER_ALREADY_EXISTS": ("email",),
    "USERNAME_ALREADY_EXISTS": ("username",),
    "PHONE_ALREADY_IN_USE": ("phone", "phone_number"),
    "INVALID_PASSWORD": ("new_password", "password"),
    "INVALID_CREDENTIALS": ("old_password", "password"),
    "TWO_FACTOR_INVALID": ("code",),
    "INVALID_VERIFICATION_CODE": ("code",),
    "ORG_SLUG_TAKEN": ("slug",),
}
_WORDS = {
    "INVALID_CREDENTIALS": _("This password is not right."),
    "TWO_FACTOR_INVALID": _(
        "This code is not right, or was used already. Wait for the next one of the app."
    ),
    "INVALID_VERIFICATION_CODE": _("This code is not right, or it has expired."),
    "REAUTHENTICATION_REQUIRED": _("Sign in again first, so that we know it is you."),
}


class Sent:
    """The fields of a form, which no error report shows: passwords and codes are among them."""

    __slots__ = ("__fields",)

    def __init__(self, fields: QueryDict) -> None:
        self.__fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self.__fields

    def get(self, name: str) -> str:
        return str(self.__fields.get(name, ""))

    def getlist(self, name: str) -> list[str]:
        return [str(value) for value in self.__fields.getlist(name)]


NOTHING = Sent(QueryDict())


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a form. `name` is its name in the API. If the text decides which field of the API
    gets it, `names` are the possible ones. `choices` are pairs of value and label."""

    name: str
    names: Sequence[str] = ()
    label: Any
    type: str = "text"
    autocomplete: str = "off"
    inputmode: str = ""
    hint: Any = ""
    rules: Sequence[password_rules.Rule] = ()
    required: bool = True
    value: Any = ""
    choices: Sequence[tuple[Any, Any]] = ()
    link: tuple[str, Any] | None = None
    error: str = ""
    # Whether it has the focus when the page is opened; one with an error has it in any case.
    starts: bool = False
    # What the label says of a code that the script sends with its last digit; "" if it does not.
    sends: Any = ""
    # The field of the project's serializer that this one is for.
    of_host: Any = field(default=None, repr=False)

    def typed(self, sent: Sent) -> Any:
        """The value of the field in the JSON of the API, as a browser sent it."""
        if self.type == CHECKBOX:
            return self.name in sent
        if self.type == SEVERAL:
            return sent.getlist(self.name)
        text = sent.get(self.name)
        if self.type == "tel":  # as people type it; the API takes E.164
            return "".join(character for character in text if character not in " -()./\t")
        # The serializers of the project refuse an empty text as a number or date, so it is null.
        return None if self.of_host is not None and not text and not self.required else text

    def shown(self, sent: Sent | None, errors: Mapping[str, str]) -> Field:
        """The field with what the user typed, and what was wrong with it."""
        value = self.value
        if sent is not None and self.type not in _NOT_SHOWN:
            value = sent.getlist(self.name) if self.type == SEVERAL else sent.get(self.name)
        elif sent is not None and self.type == CHECKBOX:
            value = self.name in sent
        return replace(self, value=value, error=errors.get(self.name, ""))

    @property
    def optional(self) -> bool:
        return not self.required

    @property
    def kind(self) -> str:
        """The name of the template that shows the field."""
        return self.type if self.type in (CHECKBOX, SELECT, SEVERAL) else "input"


def identifier() -> Field:
    """The field of the login, for an address or a name, or whatever the users of the project have
    to log in with."""
    names = host()
    has_both = names.username == "username" and names.email
    field = Field(
        name="identifier",
        names=("email", "username"),
        label=_("E-mail or username") if has_both else username().label,
        autocomplete="username",
    )
    if names.natural == names.email and not names.username:
        return replace(field, label=EMAIL.label, type="email")
    return field


def wrong_login() -> Any:
    """What the login says if no account has the name and the password."""
    names = host()
    if names.username == "username" and names.email:
        return _("Wrong e-mail, username or password.")
    if names.natural == names.email and not names.username:
        return _("Wrong e-mail or password.")
    return _("Wrong username or password.")


def username() -> Field:
    """The field for the username, with the label of the project's user model."""
    name = host().username
    own_label = host().model._meta.get_field(name).verbose_name if name else ""
    return Field(
        name="username",
        label=_("Username") if name in ("", "username") else own_label[:1].upper() + own_label[1:],
        autocomplete="username",
    )


def as_identifier(text: str) -> dict[str, str]:
    """What the login gets: an address, or the name of a user."""
    names = host()
    is_email = identifiers.is_email(text.strip()) and bool(names.email)
    only_email = names.natural == names.email and not names.username
    return {"email": text} if is_email or only_email else {"username": text}


PASSWORD = _("Password")
EMAIL = Field(name="email", label=_("E-mail"), type="email", autocomplete="email")
CODE = Field(name="code", label=_("Code"), autocomplete="one-time-code", inputmode="numeric")
# A code of a mail or a text, which is all that the user has to enter.
MAILED_CODE = replace(CODE, sends=_("six digits, sent automatically"))
# A code of an authenticator app, or a backup code, which is no number.
FACTOR = replace(CODE, inputmode="")
PHONE = Field(
    name="phone",
    label=_("Phone number"),
    type="tel",
    autocomplete="tel",
    hint=_("With the country code, such as +49\N{NO-BREAK SPACE}170\N{NO-BREAK SPACE}1234567."),
    required=False,
)
REMEMBER = Field(name="remember", label=_("Keep me signed in"), type=CHECKBOX, required=False)


def password(name: str = "password", label: Any = PASSWORD) -> Field:
    """The current password."""
    return Field(name=name, label=label, type="password", autocomplete="current-password")


def new_password(name: str = "password", label: Any = PASSWORD, *, user: Any = None) -> Field:
    """A new password of `user`, by default of a new one, with the rules for it."""
    return Field(
        name=name,
        label=label,
        type="password",
        autocomplete="new-password",
        rules=password_rules.rules_for(user),
    )


def of_signup(chosen_names: Sequence[str]) -> list[Field]:
    """The fields of a sign-up: those of the API that are in `chosen_names` or that the users of the
    project must have, and those of the project's serializer."""
    names = host()
    # A username that the service cannot make up. Only with one may the address be left out.
    must_choose = bool(names.username) and not host_fields.made_up_length()
    api_fields = (
        Field(name="name", label=_("Name"), autocomplete="name", required=False),
        Field(name="first_name", label=_("First name"), autocomplete="given-name", required=False),
        Field(name="last_name", label=_("Last name"), autocomplete="family-name", required=False),
        replace(EMAIL, required=not must_choose or host_fields.must_be_given(names.email)),
        replace(username(), required=must_choose or "username" in chosen_names),
        replace(PHONE, name="phone_number"),
        new_password(),
    )
    chosen = [field for field in api_fields if field.required or field.name in chosen_names]
    return [*chosen, *_of_host(extra_fields.signup_serializer())]


def of_profile(user: Any) -> list[Field]:
    """The fields of the project's serializer of the profile, with the values of the user."""
    schema = extra_fields.profile_serializer()
    if schema is None:
        return []
    values = schema(user).data
    return [replace(field, value=values.get(field.name, "")) for field in _of_host(schema)]


def with_focus(fields: Sequence[Field]) -> list[Field]:
    """The fields; the first has the focus unless another one has an error. After a wrong password
    that is the password: the name is filled in already."""
    starts = not any(field.error for field in fields)
    names_user = len(fields) > 1 and fields[0].name == "identifier" and bool(fields[0].value)
    return [
        replace(field, starts=starts and position == int(names_user))
        for position, field in enumerate(fields)
    ]


def errors_of(fault: Fault | None, fields: Sequence[Field]) -> dict[str, str]:
    """The texts of an error by field, and under "" what belongs to none of them."""
    if fault is None:
        return {}
    names = {name: field.name for field in fields for name in (field.name, *field.names)}
    by_field = {
        names[name]: " ".join(texts) for name, texts in fault.texts.items() if name in names
    }
    if by_field and len(by_field) == len(fault.texts):
        return by_field
    if other_texts := [
        text for name, texts in fault.texts.items() if name not in names for text in texts
    ]:
        return {**by_field, "": " ".join(other_texts)}
    candidates = (name for name in _FIELDS_OF.get(fault.code, ()) if name in names)
    return {next(candidates, ""): str(words_of(fault))}


def words_of(fault: Fault) -> Any:
    """An error as people say it."""
    seconds = int(fault.headers.get("Retry-After", 0))
    if fault.status == errors.TooManyAttempts.status and seconds:
        minutes = -(-seconds // 60)
        return page_count(
            "Too many attempts. Try again in %(count)d minute.",
            "Too many attempts. Try again in %(count)d minutes.",
            minutes,
        )
    return _WORDS.get(fault.code, fault.text)


def packed(setup: Mapping[str, Any]) -> Secret:
    """What the page shows once to set up an authenticator app, as a hidden field of its form: the
    page shows it again after a wrong code. It is signed, so that no page shows a picture that
    somebody else made."""
    shown_once = {name: setup[name] for name in ("qr_code", "qr_url", "secret", "backup_codes")}
    return Secret(secret.signer(_SETUP).sign(json.dumps(shown_once)))


def unpacked(sent: Sent) -> Mapping[str, Any] | None:
    """The `packed` set-up that a form sent back, None if it has none."""
    try:
        return Values(json.loads(secret.signer(_SETUP).unsign(sent.get("setup"))))
    except signing.BadSignature:
        return None


def script() -> str:
    """The script of all forms, which work without it too."""
    return templates.render(_SCRIPT, {})


def _of_host(schema: Any) -> Iterator[Field]:
    for name, source in schema().fields.items() if schema else ():
        if source.read_only or isinstance(source, serializers.HiddenField):
            continue
        kind = next((kind for base, kind in _TYPES if isinstance(source, base)), "text")
        if source.style.get("input_type") == "password":
            kind = "password"
        choices = [(value, label) for value, label in getattr(source, "choices", {}).items()]
        yield Field(
            name=name,
            label=source.label or name,
            type=kind,
            hint=source.help_text or "",
            required=source.required and kind != CHECKBOX,
            choices=choices,
            of_host=source,
        )
