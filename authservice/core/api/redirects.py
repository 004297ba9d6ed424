"""The response of a login: JSON, or a redirect with the result in the fragment of its URL.

Browsers do not send the fragment to servers, so tokens in it do not get into server logs.

Only settings determine the target of a redirect, never the request, so there is no open redirect.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect

from authservice.core.api import responses, token_cookies
from authservice.core.login.login import Login
from authservice.kernel.errors import Fault


def login(outcome: Login, *, to: str, message: str) -> HttpResponse:
    """Redirect to `to` with the result of a login; JSON if `to` is empty."""
    if not to:
        return responses.login(outcome, message=message)
    response = redirect(_with(to, _told(outcome)))
    if outcome.tokens:
        token_cookies.put(response, outcome.tokens)
        responses.keep_device(response, outcome.device_token)
    return response


def refusal(fault: Fault, *, to: str) -> HttpResponse:
    """Redirect to `to` with the error. Raises it if `to` is empty."""
    if not to:
        raise fault
    return redirect(_with(to, {"error": fault.code, "error_description": fault.message}))


def redirect(url: str, *, status: int = 302) -> HttpResponse:
    """Redirect without a referrer, so the target page does not see this URL. 303 after a form."""
    response = HttpResponseRedirect(url)
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _told(outcome: Login) -> dict[str, str]:
    if outcome.tokens:
        tokens = outcome.tokens
        return {
            "access_token": tokens.access_token.reveal(),
            "refresh_token": tokens.refresh_token.reveal(),
        }
    first = outcome.challenges[0]
    return {
        "challenge": first.type,
        "temp_token": str(responses.shown(first.data).get("temp_token", "")),
    }


def _with(url: str, told: dict[str, str]) -> str:
    return f"{url}#{urlencode(told)}"
