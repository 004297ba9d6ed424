"""Request bodies and query parameters of the magic-link routes."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from authservice.core.api.serializers import Email, SixDigits
from authservice.kernel.http.fields import SecretText


class TokenIn(serializers.Serializer[Any]):
    LONGEST: ClassVar = 512

    token = SecretText(max_length=LONGEST)


class CodeIn(serializers.Serializer[Any]):
    email = Email()
    code = SixDigits()
