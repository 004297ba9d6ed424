"""What the routes of core and of the login module take."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.core import identity
from authservice.kernel.http.fields import Password, Text


class Email(Text):
    """An address as typed; blank counts as absent."""

    default_error_messages = {"email": "Must be an e-mail address."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=identity.EMAIL_LENGTH, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identity.is_email(text):
            self.fail("email")
        return text


class Username(Text):
    default_error_messages = {
        "username": "Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'."
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=30, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identity.is_username(text):
            self.fail("username")
        return text


class Phone(Text):
    default_error_messages = {"phone": "Must be a possible number in E.164 form, as +4930123456."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=16, trim_whitespace=False, **options)

    def to_internal_value(self, data: str) -> str:
        text = super().to_internal_value(data)
        if not identity.is_phone(text):
            self.fail("phone")
        return text


class SignupIn(serializers.Serializer[Any]):
    email = Email(required=False, allow_blank=True, default="")
    username = Username(required=False, allow_blank=True, default="")
    password = Password()
    name = Text(max_length=255, required=False, allow_blank=True, default="")
    first_name = Text(max_length=150, required=False, allow_blank=True, default="")
    last_name = Text(max_length=150, required=False, allow_blank=True, default="")
    phone_number = Phone(required=False, allow_blank=True, default="")


class LoginIn(serializers.Serializer[Any]):
    # An address that could not exist is merely unknown: its form is not judged here, and names
    # that the host gave out before us are longer and stranger than ours.
    email = Text(max_length=254, required=False, allow_blank=True, default="")
    username = Text(max_length=254, required=False, allow_blank=True, default="")
    password = Password()


class RefreshIn(serializers.Serializer[Any]):
    refresh_token = Text(max_length=512)
