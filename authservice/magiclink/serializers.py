"""What the routes of this module take."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.core.serializers import Email, SixDigits
from authservice.kernel.http.fields import Text


class TokenIn(serializers.Serializer[Any]):
    token = Text(max_length=512)


class CodeIn(serializers.Serializer[Any]):
    email = Email()
    code = SixDigits()
