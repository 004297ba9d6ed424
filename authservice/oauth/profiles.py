"""The profile of a provider, brought into the form of our own fields.

A provider's texts are input like any other: they may be too long, have control characters, or be no
address at all. A bad text is left out, since the user cannot correct it during the login.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from authservice.core.users import extra_fields, identifiers
from authservice.core.users.creation import NewUser
from authservice.core.users.user_model import host
from authservice.oauth import errors, provider_settings
from authservice.oauth.conf import conf
from authservice.oauth.provider import Profile

SUBJECT_LENGTH = 255  # OpenID Connect Core section 2
# Characters that the columns of an account have room for.
_NAME_SIZE, _PART_SIZE, _URL_SIZE = 255, 150, 2048
# The texts of a profile that `OAUTH.PROFILE_FIELDS` can use.
SOURCES = ("name", "first_name", "last_name", "avatar")


def cleaned(profile: Profile, provider: str) -> Profile:
    """The profile without texts that cannot be stored. Its address counts as verified only if the
    settings trust the provider with its domain. Raises `UserInfoUnavailable` if the subject is not
    acceptable."""
    if not 0 < len(profile.subject) <= SUBJECT_LENGTH or _has_controls(profile.subject):
        raise errors.UserInfoUnavailable
    email = profile.email.strip()
    email = email if identifiers.is_new_email(email) else ""
    trusted = bool(email) and profile.email_verified and conf.trust_email_verification
    trusted = trusted and identifiers.receives_mail(email)
    trusted = trusted and provider_settings.vouches_for(provider, email)
    return replace(profile, email=email, email_verified=trusted)


def new_user(profile: Profile) -> NewUser:
    """The data of an account to create."""
    user_model = host()
    extra_columns: dict[str, str] = {}
    for name, source in conf.profile_fields.items():
        column = user_model.model._meta.get_field(name)
        raw = getattr(profile, source)
        text = _url(raw) if source == "avatar" else _text(raw, column.max_length or _NAME_SIZE)
        # A value that the field of the project does not accept is left out: it must not prevent
        # the login.
        with suppress(ValidationError):
            extra_columns[name] = column.clean(text, None) if text else ""
    return NewUser(
        email=profile.email,
        name=_text(profile.name, _NAME_SIZE),
        first_name=_text(profile.first_name, _longest(user_model.first_name)),
        last_name=_text(profile.last_name, _longest(user_model.last_name)),
        avatar=_url(profile.avatar),
        extra_fields=extra_fields.of_columns(
            {name: value for name, value in extra_columns.items() if value}
        ),
    )


def _longest(field: str) -> int:
    """The maximum length of a name: the host's own field may be shorter than ours."""
    own = host().model._meta.get_field(field).max_length if field else None
    return min(own or _PART_SIZE, _PART_SIZE)


def _text(text: str, longest: int) -> str:
    # Cut before the normalization, whose time grows with the square of the length, and again after
    # it, since it may lengthen the text.
    printable = "".join(character for character in text[:longest] if not _is_control(character))
    return unicodedata.normalize("NFC", printable).strip()[:longest]


def _url(text: str) -> str:
    if len(text) > _URL_SIZE or _has_controls(text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.hostname else ""


def _has_controls(text: str) -> bool:
    return any(_is_control(character) for character in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs")
