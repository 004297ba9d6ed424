"""The response of a login: JSON, or a redirect with the result in the fragment of its URL.

Browsers do not send the fragment to servers, so tokens in it do not get into server logs. But
scripts, extensions and the history can read it, so a redirect that sets token cookies has no
tokens in its fragment.

Only settings determine the target of a redirect, never the request, so there is no open redirect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.http import HttpResponse, HttpResponseRedirect

from authservice.core.api import responses, token_cookies
from authservice.core.api.callers import accepts_cookies
from authservice.core.api.responses import Verified
from authservice.core.login.login import Login
from authservice.core.messages import mailed_links
from authservice.kernel.errors import Fault
from authservice.kernel.http.envelope import answer
from authservice.kernel.phrases import Phrase


def login(
    outcome: Login, *, to: str, message: Phrase, more: Mapping[str, Any] | None = None
) -> HttpResponse:
    """Redirect to `to` with the result of a login; JSON, with the fields `more`, if `to` is
    empty."""
    if not to:
        return responses.login(outcome, message=message, more=more)
    response = redirect(_with(to, _values(outcome)))
    if outcome.tokens:
        token_cookies.put(response, outcome.tokens)
        responses.keep_device(response, outcome.device_token)
    return response


def refusal(fault: Fault, *, to: str) -> HttpResponse:
    """Redirect to `to` with the error in the fragment. Raises `fault` if `to` is empty."""
    if not to:
        raise fault
    return redirect(_with(to, {"error": fault.code, "error_description": fault.text}))


def refusal_in_query(fault: Fault, *, to: str) -> HttpResponse:
    """As `refusal`, with the error in the query, which a front end without scripts can read."""
    if not to:
        raise fault
    values = urlencode({"error": fault.code, "error_description": fault.text})
    return redirect(f"{to}{'&' if urlsplit(to).query else '?'}{values}")


def result(values: Mapping[str, str], *, to: str) -> HttpResponse:
    """Redirect to `to` with values in the fragment."""
    return redirect(_with(to, values))


def verified(body: Verified, *, status: int) -> HttpResponse:
    """The success of a link that verifies an address: a redirect to the front end, or JSON."""
    onward = mailed_links.verified("success")
    return redirect(onward, status=status) if onward else answer(body)


def not_verified(fault: Fault, *, status: int) -> HttpResponse:
    """The refusal of such a link: a redirect to the front end. Raises `fault` if there is none."""
    onward = mailed_links.verified("error")
    if not onward:
        raise fault
    return redirect(onward, status=status)


def redirect(url: str, *, status: int = 302) -> HttpResponse:
    """Redirect without a referrer: the target does not see this URL. Use 303 after a form."""
    response = HttpResponseRedirect(url)
    response.status_code = status
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _values(outcome: Login) -> dict[str, str]:
    """The values of the fragment. They contain plain tokens, so callers pass them on as an argument
    and never store them in a variable."""
    if outcome.tokens and accepts_cookies():
        return {"status": "signed_in"}
    if outcome.tokens:
        tokens = outcome.tokens
        return {
            "access_token": tokens.access_token.reveal(),
            "refresh_token": tokens.refresh_token.reveal(),
        }
    challenge = outcome.challenges[0]
    return {
        "challenge": challenge.type,
        "temp_token": str(responses.shown(challenge.data).get("temp_token", "")),
    }


def _with(url: str, values: Mapping[str, str]) -> str:
    return f"{url}#{urlencode(values)}"
