"""What the description says in words, and its headers."""

from __future__ import annotations

from typing import Any

DESCRIPTION = """\
A success is `{"data": …}`, in places with a `message`; a refusal is
`{"data": {"code", "message"}, "message"}`, whose codes do not change.

Bodies are JSON objects of at most 64 KiB in UTF-8. Unknown fields are ignored, nothing is coerced,
and an empty string counts as absent where it is let in. Strings hold no control characters. An
empty body is an empty object.

Each address answers `HEAD` where it answers `GET`, `OPTIONS` with the methods it has, and any other
method with 405 `METHOD_NOT_ALLOWED`; an unknown address is 404 `NOT_FOUND`.

`X-Request-ID` is taken over if it is 1 to 128 of `A-Z a-z 0-9 . _ -`. `X-Device-Token`, or the
cookie that comes with it, sent along at the next login gives a known device a guess budget of its
own.
"""


def _header(text: str, *, required: bool = True, **schema: Any) -> dict[str, Any]:
    return {
        "description": text,
        **({"required": True} if required else {}),
        "schema": {"type": "string", **schema},
    }


HEADERS: dict[str, Any] = {
    "Cache-Control": _header("`no-store`, unless the answer is the same for everybody."),
    "Location": _header("Where the browser goes on.", format="uri-reference"),
    "Referrer-Policy": _header("The address may hold a secret.", required=False),
    "Retry-After": _header("Seconds to wait.", pattern="^[0-9]+$"),
    "Set-Cookie": _header("What else a browser keeps: see the docs.", required=False),
    "WWW-Authenticate": _header("The scheme.", const="Bearer"),
    "X-Device-Token": _header(
        "Names this device and account. It comes with tokens, and with nothing else.",
        required=False,
    ),
    "X-Request-ID": _header(
        "The id of the request, as given or made.", pattern="^[A-Za-z0-9._-]{1,128}$"
    ),
}
