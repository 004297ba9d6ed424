"""Request bodies, query parameters and response types of the oauth routes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypedDict

from rest_framework import serializers

from authservice.core.api.responses import Authenticated, MessageResponse
from authservice.kernel.http.fields import AnyText, Password, SecretText, Text
from authservice.kernel.http.operations import Uri, carries

# Maximum lengths in characters. Those of a callback fit into the request line of a server that
# reads 8,190 bytes.
_CODE, _TOKEN, _URI, _USER = 5000, 16384, 2048, 4096


class CallbackIn(serializers.Serializer[Any]):
    """The parameters that providers send; others are ignored."""

    state = SecretText(max_length=512, required=False, allow_blank=True, default="")
    code = SecretText(max_length=_CODE, required=False, allow_blank=True, default="")
    # Only its presence matters, so a long text is cut instead of refused.
    error = AnyText(max_length=255, required=False, allow_blank=True, default="")
    # The issuer (RFC 9207).
    iss = Text(max_length=_URI, required=False, allow_blank=True, default="")


class CallbackFormIn(CallbackIn):
    """The same in the form that Apple sends."""

    # The name of the user, as JSON, at the first login. Without it the user logs in without a name.
    user = AnyText(max_length=_USER, required=False, allow_blank=True, default="")


class StartIn(serializers.Serializer[Any]):
    # Where to return afterwards: one of `OAUTH.RETURN_URLS`, compared exactly.
    next = Text(
        max_length=_URI, trim_whitespace=False, required=False, allow_blank=True, default=""
    )


class LinkIn(StartIn):
    # The current password, as a proof.
    password = Password(required=False, allow_blank=True)


class NativeTokenIn(serializers.Serializer[Any]):
    exactly_one: ClassVar = ("id_token", "code")
    alongside: ClassVar = {"id_token": ("nonce",), "code": ("code_verifier", "redirect_uri")}

    id_token = SecretText(max_length=_TOKEN, required=False, allow_blank=True, default="")
    nonce = SecretText(max_length=128, required=False, allow_blank=True, default="")
    code = SecretText(max_length=_CODE, required=False, allow_blank=True, default="")
    code_verifier = SecretText(max_length=128, required=False, allow_blank=True, default="")
    # Compared exactly, so nothing is trimmed (RFC 9700 section 2.1).
    redirect_uri = Text(
        max_length=_URI, trim_whitespace=False, required=False, allow_blank=True, default=""
    )


class ProviderEntry(TypedDict):
    """A configured provider."""

    name: str
    enabled: bool


class ProviderList(TypedDict):
    """All configured providers."""

    providers: list[ProviderEntry]


class LinkedList(TypedDict):
    """The names of the providers that are linked to the user."""

    providers: list[str]


@carries("X-Device-Token", "Set-Cookie")
class SignedInByProvider(Authenticated):
    """The tokens of a new session and its user, who logged in with a provider."""

    token_type: str
    is_new_user: bool
    provider: str


class ProviderLinked(MessageResponse):
    """A provider was linked to the signed-in user."""

    status: Literal["linked"]
    provider: str


@carries("Set-Cookie")
class LinkStarted(TypedDict):
    """The address of the provider to which the front end sends the browser."""

    url: Uri


class IssuedNonce(TypedDict):
    """A nonce to request an ID token with; `expires_in` is its lifetime in seconds."""

    nonce: str
    expires_in: int
