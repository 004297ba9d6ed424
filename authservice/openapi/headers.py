"""The headers of responses."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from authservice.kernel.http.operations import carried

Schema = dict[str, Any]

_ALWAYS = ("X-Request-ID", "Cache-Control")
_OF_ERRORS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}


def _header(text: str, *, required: bool = True, **schema: Any) -> Schema:
    return {
        "description": text,
        **({"required": True} if required else {}),
        "schema": {"type": "string", **schema},
    }


COMPONENTS: dict[str, Schema] = {
    "Cache-Control": _header("`no-store`, unless the response is the same for all clients."),
    "Location": _header("The target of the redirect.", format="uri-reference"),
    "Referrer-Policy": _header(
        "Prevents the browser from sending this URL, which may contain a secret, to other sites.",
        required=False,
    ),
    "Retry-After": _header("Seconds to wait before a retry.", type="integer", minimum=0),
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
    "X-Total-Count": _header("The number of rows on all pages.", type="integer", minimum=0),
}


def references(*names: str) -> Schema:
    """References to the headers of every response and to these."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*_ALWAYS, *names)}


def of_answer(answer: Any) -> Schema:
    """The headers of all types that a response may have."""
    members = (answer, *get_args(answer)) if get_origin(answer) else (answer,)
    return references(*dict.fromkeys(name for member in members for name in carried(member)))


def of_error(status: int) -> Schema:
    return references(*_OF_ERRORS.get(status, ()))
