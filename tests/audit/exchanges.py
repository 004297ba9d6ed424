"""A request and its response for each route, as docs/requests.rst shows them.

`python -m tests.audit.exchanges` runs the first successful case of each route and writes the page.
What is random or secret is replaced, so that each run shows the same.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from typing import Any
from urllib.parse import unquote

from tests.hosts.runs import ROOT, SQLITE, holds
from tests.reference.api_routes import listed

PAGE = ROOT / "docs/requests.rst"
STORED = ROOT / "tests/audit/exchanges.json"
RENEW = "RENEW_EXCHANGES"  # the environment variable that stores what is seen
_HEAD = """\
Requests and responses
======================

You want to see what a route takes and what it answers: find it here. A test sends each request, and
compares the response with this page. Tokens, ids and times are shortened, and of a list the first
entry is shown. :doc:`api` says what the fields mean, and :doc:`reference/errors` what a route
answers if it refuses.

Paths are below the mount, such as ``/auth``. A route that needs a signed-in user also gets
``Authorization: Bearer <access token>``, which is not repeated here.
"""
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_RANDOM = re.compile(r"(?<![\w/-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w.-]{20,}")
_QUERY = re.compile(r"\b(\w*(?:token|state|nonce|code|challenge)\w*)=[^&#\s\"]+")
_SECRET = re.compile(
    r"token|secret|nonce|credential|qr_|raw_id|clientData|attestation|signature", re.I
)
_LONGEST, _LARGEST = 90, 10**6
_WHOLE = 20_000  # bytes


def shown(value: Any, key: str = "") -> Any:
    """The value as the page has it."""
    match value:
        case dict():
            return {name: shown(one, name) for name, one in value.items()}
        case list():
            return [shown(value[0], key)] if value else []
        case str():
            return _text(value, key)
        case int() | float() if not isinstance(value, bool) and abs(value) >= _LARGEST:
            return 0
    return value


def _text(value: str, key: str) -> str:
    if key in ("code", "backup_codes"):
        return "123456" if key == "code" else "…"
    if value and _SECRET.search(key) and not key.endswith("_type"):
        return "…"
    if value.isdigit() and key.endswith("id"):
        return "1"
    value = _TIME.sub(
        "2030-01-01T12:00:00Z", _UUID.sub("6f1c0a3e-5b1d-4f0e-9c1a-2f8f6d3c7b10", value)
    )
    if "6f1c0a3e" not in value:
        value = _RANDOM.sub("…", _QUERY.sub(r"\1=…", value))
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"


def keep_content(response: Any) -> None:
    """Read a stream into `recorded`, and let the client read the same bytes."""
    response.recorded = b"".join(response.streaming_content)
    response.streaming_content = [response.recorded]


def exchange(method: str, path: str, body: Any, response: Any) -> dict[str, Any]:
    """A request and its response, as stored."""
    seen: dict[str, Any] = {"request": f"{method} {_path(path)}", "status": response.status_code}
    if body:
        seen["body"] = shown(body)
    if location := response.headers.get("Location"):
        seen["location"] = _text(location, "")
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    content = response.recorded if response.streaming else response.content
    if kind == "application/json" and content:
        answer = shown(json.loads(content))
        # The description of the API is a page of its own.
        whole = len(content) < _WHOLE
        seen["answer"] = answer if whole else dict.fromkeys(answer, "…")
    elif content:
        seen["kind"] = kind
    return seen


def _path(path: str) -> str:
    path = _UUID.sub("6f1c0a3e-5b1d-4f0e-9c1a-2f8f6d3c7b10", unquote(path.removeprefix("/auth/")))
    path = re.sub(r"(?<=/)\d+(?=/|$)", "1", path)
    return "/" + _QUERY.sub(r"\1=…", path)


def page(exchanges: dict[str, dict[str, Any]]) -> str:
    """The text of the page, with the routes in the order of docs/api.rst, which leaves out those of
    the API description."""
    parts = [_HEAD]
    order = [*listed(), *exchanges]
    for route, seen in sorted(exchanges.items(), key=lambda item: order.index(item[0])):
        parts.append(f"``{route}``\n{'-' * (len(route) + 4)}\n")
        request = "\n\n".join(filter(None, [seen["request"], _json(seen.get("body"))]))
        parts.append(_block(request))
        lines = [str(seen["status"])]
        if "location" in seen:
            lines.append(f"Location: {seen['location']}")
        if "kind" in seen:
            lines.append(f"Content-Type: {seen['kind']}")
        parts.append(_block("\n".join(lines) + "\n\n" + _json(seen.get("answer"))))
    return "\n".join(parts)


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _block(text: str) -> str:
    return ".. code-block:: text\n\n" + textwrap.indent(text.strip(), "   ") + "\n"


def stored() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text())
    return found


def main() -> None:
    STORED.write_text("{}\n")
    settings = "--ds=tests.audit.settings"
    holds(
        "tests/audit/inside/test_exchanges.py", "-k", "answers", settings, **{RENEW: "1"}, **SQLITE
    )
    PAGE.write_text(page(stored()))


def renewed() -> bool:
    return bool(os.environ.get(RENEW))


if __name__ == "__main__":
    main()
