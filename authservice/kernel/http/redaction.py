"""Remove secrets from a request before error reports and trackers see it.

They show the query string, form fields, cookies and headers. Django hides some of them by name, but
not while DEBUG is on; the tokens of mailed links are in the query string.
"""

from __future__ import annotations

from contextlib import suppress

from django.http import HttpRequest, QueryDict

HIDDEN = "[hidden]"
_HEADERS = ("HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_X_CSRF_TOKEN", "HTTP_X_DEVICE_TOKEN")
_PARAMETERS = frozenset({"token", "code", "temp_token", "refresh_token", "password"})


def redact(request: HttpRequest) -> None:
    """Replace the values of secrets; everything else stays, for debugging."""
    request.GET = _hidden(request.GET)  # type: ignore[assignment]
    request.META["QUERY_STRING"] = request.GET.urlencode(safe="[]")
    with suppress(Exception):  # a body that cannot be read is not shown either
        request.POST = _hidden(request.POST)  # type: ignore[assignment]
    request.COOKIES = dict.fromkeys(request.COOKIES, HIDDEN)
    for name in _HEADERS:
        if name in request.META:
            request.META[name] = HIDDEN


def _hidden(fields: QueryDict) -> QueryDict:
    shown = fields.copy()
    for name in _PARAMETERS & shown.keys():
        shown[name] = HIDDEN
    return shown
