"""Responses in the shapes of simplejwt: no envelope, and errors with `detail` and `code`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext

from authservice.core.errors import InvalidCredentials, UserNotActive
from authservice.core.sessions.sessions import Tokens
from authservice.kernel import errors, languages

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="api"'}
_NO_ACCOUNT = ("No active account found with the given credentials", "no_active_account")
_NOT_VALID = ("Token is invalid", "token_not_valid")
_EXPIRED = ("Token is expired", "token_not_valid")
# simplejwt's text and code, where it has the same error. It answers each of them with 401.
_THEIRS: Mapping[type[errors.Fault], tuple[str, str]] = {
    InvalidCredentials: _NO_ACCOUNT,
    UserNotActive: _NO_ACCOUNT,
    errors.InvalidToken: _NOT_VALID,
    errors.InvalidRefreshToken: _NOT_VALID,
    errors.TokenExpired: _EXPIRED,
}


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


def refusal(fault: errors.Fault) -> HttpResponse:
    """The error of simplejwt with the same meaning; otherwise ours, with `detail` and `code`."""
    status = fault.status
    if isinstance(fault, errors.ValidationFailed) and fault.details:
        response = answer(fault.texts, status=status)
    else:
        theirs = next((text for kind, text in _THEIRS.items() if isinstance(fault, kind)), None)
        # simplejwt's catalogues translate its texts, if the project has its app installed.
        detail, code = (gettext(theirs[0]), theirs[1]) if theirs else (fault.text, fault.code)
        status = 401 if theirs else status
        response = answer({"detail": detail, "code": code}, status=status)
    headers = {**_CHALLENGE, **fault.headers} if status == 401 else fault.headers
    for name, value in headers.items():
        response.headers[name] = value
    languages.label(response)
    return response
