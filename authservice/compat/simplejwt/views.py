"""The views of simplejwt under their own names, on the rules of this service.

A login counts its attempts and passes the checks of every other login. Tokens belong to sessions.
Responses have the shapes of simplejwt: no envelope, and errors with `detail` and `code`. No
response sets a token cookie and no request reads one, so a page of another site gains nothing by
sending a request, and the routes need no CSRF token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import serializers

from authservice.compat.simplejwt import trade
from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.errors import InvalidCredentials, UserNotActive
from authservice.core.login import foreign_tokens, login
from authservice.core.sessions import bearer, revocation, rotation
from authservice.core.sessions.sessions import Tokens
from authservice.core.users.user_model import host
from authservice.kernel import errors as kernel_errors
from authservice.kernel import languages, settings
from authservice.kernel.errors import Fault
from authservice.kernel.http.fields import Password, SecretText, Text
from authservice.kernel.http.incoming import FORM
from authservice.kernel.secret import Secret

# Characters. Tokens of simplejwt contain whatever claims the project added.
LONGEST = 8192
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="api"'}
_NO_ACCOUNT = ("No active account found with the given credentials", "no_active_account")
_NOT_VALID = ("Token is invalid", "token_not_valid")
_EXPIRED = ("Token is expired", "token_not_valid")
# simplejwt's text and code, where it has the same error. It answers each of them with 401.
_SIMPLEJWT_ERRORS: Mapping[type[Fault], tuple[str, str]] = {
    InvalidCredentials: _NO_ACCOUNT,
    UserNotActive: _NO_ACCOUNT,
    kernel_errors.InvalidToken: _NOT_VALID,
    kernel_errors.InvalidRefreshToken: _NOT_VALID,
    kernel_errors.TokenExpired: _EXPIRED,
}


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
        return refusal(fault)

    def exchange(self) -> HttpResponse:
        raise NotImplementedError


class TokenObtainPairView(_TokenView):
    """Log in with `USERNAME_FIELD` and `password`: `{"refresh", "access"}`."""

    def exchange(self) -> HttpResponse:
        credentials = self.read(obtain_in())
        field = "email" if host().natural == host().email else "username"
        identifier = {field: credentials[host().natural]}
        outcome = login.with_password(credentials["password"], self.client, **identifier)
        if outcome.tokens is None:
            raise errors.TwoFactorRequired
        response = pair(outcome.tokens)
        # A form of another site can send this request too. It must not replace the device
        # token in the cookie of the browser.
        if self.request.content_type != FORM:
            responses.hand_out_device(response, outcome.device_token)
        return response


class TokenRefreshView(_TokenView):
    """New tokens for `refresh`: `{"refresh", "access"}`. A token of simplejwt is traded."""

    def exchange(self) -> HttpResponse:
        return pair(foreign_tokens.refresh(self.read(RefreshIn)["refresh"], self.client))


class TokenVerifyView(_TokenView):
    """Whether `token`, an access token or a refresh token, is valid: `{}`, or 401."""

    def exchange(self) -> HttpResponse:
        token: Secret = self.read(TokenIn)["token"]
        # Our access tokens are JWTs, which have dots; our refresh tokens have none.
        if "." in token.reveal():
            bearer.identify(token).require_live()
        else:
            rotation.holder(token)
        return answer({})


class TokenBlacklistView(_TokenView):
    """End the session that `refresh` belongs to: `{}`. A token of simplejwt is blocked."""

    def exchange(self) -> HttpResponse:
        text: Secret = self.read(RefreshIn)["refresh"]
        if foreign_tokens.is_foreign(text):
            trade.block(text, self.client)
            return answer({})
        person, session = rotation.holder(text)
        revocation.log_out(person, session, self.client)
        return answer({})


token_obtain_pair = TokenObtainPairView.as_view()
token_refresh = TokenRefreshView.as_view()
token_verify = TokenVerifyView.as_view()
token_blacklist = TokenBlacklistView.as_view()


def answer(body: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """A JSON response."""
    return HttpResponse(
        json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
        content_type="application/json",
        status=status,
    )


def pair(issued: Tokens) -> HttpResponse:
    """Both tokens; they are never in cookies."""
    return answer(
        {"refresh": issued.refresh_token.reveal(), "access": issued.access_token.reveal()}
    )


def refusal(fault: Fault) -> HttpResponse:
    """The error of simplejwt with the same meaning; otherwise ours, with `detail` and `code`."""
    status = fault.status
    if isinstance(fault, kernel_errors.ValidationFailed) and fault.details:
        response = answer(fault.texts, status=status)
    else:
        simplejwt_error = next(
            (text for kind, text in _SIMPLEJWT_ERRORS.items() if isinstance(fault, kind)), None
        )
        # simplejwt's catalogues translate its texts, if the project has its app installed.
        detail, code = (
            (gettext(simplejwt_error[0]), simplejwt_error[1])
            if simplejwt_error
            else (fault.text, fault.code)
        )
        status = 401 if simplejwt_error else status
        response = answer({"detail": detail, "code": code}, status=status)
    headers = {**_CHALLENGE, **fault.headers} if status == 401 else fault.headers
    for name, value in headers.items():
        response.headers[name] = value
    languages.label(response)
    return response
