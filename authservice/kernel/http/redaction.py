"""Remove secrets from a request before error reports and error trackers read it.

Reports show the query string, form fields, cookies and headers. Django hides some of them by name,
but not if DEBUG is on. The tokens of e-mailed links are in the query string.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, QueryDict

HIDDEN = "[hidden]"
# Words in the names of headers that contain secrets, among them a `CSRF.HEADER_NAME` of the host.
_HEADER_WORDS = ("AUTHORIZATION", "COOKIE", "CSRF", "SECRET", "TOKEN", "XSRF")
_PARAMETERS = frozenset(
    {
        "token",
        "code",
        "temp_token",
        "refresh_token",
        "password",
        "new_password",
        "old_password",
        # Callbacks of identity providers; `user` is the profile that Apple sends.
        "state",
        "id_token",
        "access_token",
        "user",
    }
)


def redact(request: HttpRequest) -> None:
    """Replace the values of secrets in place; everything else stays available for debugging."""
    request.GET = _hidden(request.GET)  # type: ignore[assignment]
    request.META.update(_without_queries(request.META))
    request.META["QUERY_STRING"] = request.GET.urlencode(safe="[]")
    with suppress(Exception):  # reports cannot show an unreadable body either
        request.POST = _hidden(request.POST)  # type: ignore[assignment]
    request.COOKIES = dict.fromkeys(request.COOKIES, HIDDEN)
    for name in request.META:
        if name.startswith("HTTP_") and any(word in name for word in _HEADER_WORDS):
            request.META[name] = HIDDEN


def _without_queries(meta: Mapping[str, Any]) -> dict[str, str]:
    """The `META` values that contain a query string, with the query string hidden.

    Servers, proxies and browsers add whole URLs: `RAW_URI` (gunicorn), `REQUEST_URI` (uWSGI),
    `HTTP_X_ORIGINAL_URI` (nginx), `HTTP_REFERER`. Other servers use other names.
    """
    texts = {name: value for name, value in meta.items() if isinstance(value, str)}
    queries = {name: HIDDEN for name in texts if name.endswith("_QUERY_STRING")}
    addresses = {
        name: f"{text.partition('?')[0]}?{HIDDEN}" for name, text in texts.items() if "?" in text
    }
    return addresses | queries


def _hidden(fields: QueryDict) -> QueryDict:
    shown = fields.copy()
    for name in _PARAMETERS & shown.keys():
        shown[name] = HIDDEN
    return shown
