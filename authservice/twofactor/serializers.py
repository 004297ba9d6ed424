"""What the routes of this module take."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.kernel.http.fields import Flag, Text


class Code(Text):
    """A code as typed. Its form is the rule's to judge: one that could be none is merely wrong."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64, trim_whitespace=False, **options)


class CodeIn(serializers.Serializer[Any]):
    code = Code()


class TempTokenIn(serializers.Serializer[Any]):
    temp_token = Text(max_length=512)


class VerifyLoginIn(serializers.Serializer[Any]):
    temp_token = Text(max_length=512)
    code = Code()
    remember_device = Flag(required=False, default=False)
