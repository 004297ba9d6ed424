"""The views of simplejwt under their own names, on the rules of this service.

A login counts its attempts and passes the one door; tokens belong to sessions; errors have the
shapes of simplejwt. No response sets a token cookie and no request reads one, so a page of another
site gains nothing by sending a request, and the routes need no CSRF token.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework import serializers

from authservice.compat.simplejwt import answers, trade
from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.login import foreign_tokens, login
from authservice.core.sessions import bearer, revocation, rotation
from authservice.core.users.user_model import host
from authservice.kernel import settings
from authservice.kernel.errors import Fault
from authservice.kernel.http.body import FORM
from authservice.kernel.http.fields import Password, SecretText, Text
from authservice.kernel.secret import Secret

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


class _TokenView(Endpoint):
    """A view for `path("…", TokenRefreshView.as_view())`, as in the URLconf of a project."""

    public = True
    guard_exempt = True
    takes_form = True

    @classmethod
    def as_view(cls, actions: Any = None, **options: Any) -> Any:
        return super().as_view(actions or {"post": "exchange"}, **options)

    def refuse(self, fault: Fault) -> HttpResponse:
        return answers.refusal(fault)

    def exchange(self) -> HttpResponse:
        raise NotImplementedError


class TokenObtainPairView(_TokenView):
    """Log in with `USERNAME_FIELD` and `password`: `{"refresh", "access"}`."""

    def exchange(self) -> HttpResponse:
        given = self.read(obtain_in())
        name = "email" if host().natural == host().email else "username"
        typed = {name: given[host().natural]}
        outcome = login.with_password(given["password"], self.client, **typed)
        if outcome.tokens is None:
            raise errors.TwoFactorRequired
        response = answers.pair(outcome.tokens)
        # A form of another site can send this request too. It must not replace the device that the
        # browser has a cookie of.
        if self.request.content_type != FORM:
            responses.hand_out_device(response, outcome.device_token)
        return response


class TokenRefreshView(_TokenView):
    """New tokens for `refresh`: `{"refresh", "access"}`. A token of simplejwt is traded."""

    def exchange(self) -> HttpResponse:
        return answers.pair(foreign_tokens.refresh(self.read(RefreshIn)["refresh"], self.client))


class TokenVerifyView(_TokenView):
    """Whether `token`, an access token or a refresh token, is valid: `{}`, or 401."""

    def exchange(self) -> HttpResponse:
        token: Secret = self.read(TokenIn)["token"]
        if "." in token.reveal():
            bearer.identify(token).require_live()
        else:
            rotation.holder(token)
        return answers.answer({})


class TokenBlacklistView(_TokenView):
    """End the session that `refresh` belongs to: `{}`. A token of simplejwt is blocked."""

    def exchange(self) -> HttpResponse:
        text: Secret = self.read(RefreshIn)["refresh"]
        if foreign_tokens.is_foreign(text):
            trade.block(text, self.client)
            return answers.answer({})
        person, session = rotation.holder(text)
        revocation.log_out(person, session, self.client)
        return answers.answer({})


token_obtain_pair = TokenObtainPairView.as_view()
token_refresh = TokenRefreshView.as_view()
token_verify = TokenVerifyView.as_view()
token_blacklist = TokenBlacklistView.as_view()
