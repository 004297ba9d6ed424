"""Texts of the description, and its headers."""

from __future__ import annotations

from typing import Any

DESCRIPTION = """\
A successful response is `{"data": …}`, for some operations with a `message`. An error response is
`{"data": {"code", "message"}, "message"}`; error codes do not change.

Request bodies are JSON objects of at most 64 KiB in UTF-8. An empty body counts as an empty object.
Unknown fields are ignored and values are not coerced to other types. An empty string counts as
absent if the field accepts it. Strings must not contain control characters.

A path that supports `GET` also supports `HEAD`. `OPTIONS` returns the supported methods. Other
methods return 405 `METHOD_NOT_ALLOWED`, unknown paths 404 `NOT_FOUND`.

The service uses the `X-Request-ID` of a request if it has 1 to 128 characters of
`A-Z a-z 0-9 . _ -`. Responses with tokens contain `X-Device-Token` and a cookie with the same
value. A client that sends one of them with its next login has its own limit of attempts, which
failed logins of other clients do not use up.
"""


def _header(text: str, *, required: bool = True, **schema: Any) -> dict[str, Any]:
    return {
        "description": text,
        **({"required": True} if required else {}),
        "schema": {"type": "string", **schema},
    }


HEADERS: dict[str, Any] = {
    "Cache-Control": _header("`no-store`, unless the response is the same for all clients."),
    "Location": _header("The target of the redirect.", format="uri-reference"),
    "Referrer-Policy": _header(
        "Prevents the browser from sending this URL, which may contain a secret, to other sites.",
        required=False,
    ),
    "Retry-After": _header("Seconds to wait before a retry.", pattern="^[0-9]+$"),
    "Set-Cookie": _header("Cookies for browsers; see the documentation.", required=False),
    "WWW-Authenticate": _header("The authentication scheme.", const="Bearer"),
    "X-Device-Token": _header(
        "Identifies this device and account. Only responses with tokens contain it.",
        required=False,
    ),
    "X-Request-ID": _header(
        "The id of the request: that of the client if it is valid, otherwise a new one.",
        pattern="^[A-Za-z0-9._-]{1,128}$",
    ),
}
