"""Input of the routes of this module."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.kernel.http.fields import Flag, Password, SecretText


class Code(SecretText):
    """A code as typed. The form is not checked here: a malformed code is a wrong code, and counts
    as an attempt."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64, trim_whitespace=False, **options)


class CodeIn(serializers.Serializer[Any]):
    code = Code()


class SetupIn(serializers.Serializer[Any]):
    # The current password as a recent proof, see `CORE.REQUIRE_RECENT_PROOF`.
    password = Password(required=False, allow_blank=True)


class TempTokenIn(serializers.Serializer[Any]):
    temp_token = SecretText(max_length=512)


class VerifyLoginIn(serializers.Serializer[Any]):
    temp_token = SecretText(max_length=512)
    code = Code()
    remember_device = Flag(required=False, default=False)
