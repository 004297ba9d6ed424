"""The request bodies of simplejwt. The login has the fields of the project's user model."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from authservice.core.users.user_model import host
from authservice.kernel import settings
from authservice.kernel.http.fields import Password, SecretText, Text

# Characters. Tokens of simplejwt contain whatever claims the project added.
LONGEST = 8192


@settings.cached_for_host
def obtain_in() -> type[serializers.Serializer[Any]]:
    """The body of a login: `USERNAME_FIELD` of the user model, and `password`."""
    fields = {host().natural: Text(max_length=254), "password": Password()}
    return type("ObtainIn", (serializers.Serializer,), fields)


class RefreshIn(serializers.Serializer[Any]):
    refresh = SecretText(max_length=LONGEST)


class TokenIn(serializers.Serializer[Any]):
    token = SecretText(max_length=LONGEST)
