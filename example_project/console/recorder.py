"""The requests to the API that the developer drawer shows, each as a curl command.

They are in the memory of the process: the newest 50, without passwords, tokens and codes. The
settings install this only in development.
"""

import json
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, QueryDict

from authservice.pages.calls import called

KEPT = 50
MASK = "…"
_LONGEST = 4000
_SECRET = re.compile(r"(password|token|secret|codes?)$")
_IN_QUERY = re.compile(r"\b((?:\w*token|code|state)=)[^&#\s]+")
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_DESCRIPTION = ("schema", "schema-json", "docs", "redoc", "docs-asset")
# Fields of a form that are none of the API.
_OF_PAGES = ("csrfmiddlewaretoken", "next")


@dataclass(frozen=True)
class Call:
    """A request to the API: `path` with its query, the `command` that repeats it, and the
    `response` as text. `id` grows with time."""

    id: str
    method: str
    path: str
    status: int
    milliseconds: int
    command: str
    response: str

    @property
    def tone(self) -> str:
        return "good" if self.status < 400 else "warn"  # noqa: PLR2004 the first error of HTTP


_calls: deque[Call] = deque(maxlen=KEPT)


def calls(after: str = "") -> list[Call]:
    """The requests after the one with the id `after`, newest first."""
    return [call for call in reversed(_calls) if call.id > after]


def Recorder(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:  # noqa: N802 a middleware
    """Middleware: records what clients send to the API, and the forms and links of mails."""

    def record(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        if _is_call(request, response):
            _record(
                request,
                response,
                time.perf_counter() - started,
                method=request.method or "",
                path=request.get_full_path(),
                body=_body_of(request),
                authorized="HTTP_AUTHORIZATION" in request.META,
            )
        return response

    return record


@receiver(called)
def record_call_of_page(
    request: HttpRequest,
    path: str,
    body: Any,
    response: HttpResponse,
    seconds: float,
    signed_in: bool,
    **_: Any,
) -> None:
    """Record a call of the account pages, which no middleware sees."""
    query = request.META.get("QUERY_STRING", "")
    _record(
        request,
        response,
        seconds,
        method=request.method or "",
        path=f"{path}?{query}" if query else path,
        body=body,
        authorized=signed_in,
    )


def _is_call(request: HttpRequest, response: HttpResponse) -> bool:
    """Whether a route of the API answered. At some addresses a page or the API does, and a page is
    recorded by its calls."""
    match = request.resolver_match
    if match is None or match.namespace != "authservice" or request.method in ("HEAD", "OPTIONS"):
        return False
    is_route = hasattr(match.func, "cls")
    return match.url_name not in _DESCRIPTION and (is_route or _kind(response) == _JSON)


def _kind(response: HttpResponse) -> str:
    return str(response.headers.get("Content-Type", "").partition(";")[0])


def _body_of(request: HttpRequest) -> Any:
    """The body that the view has read, None without one."""
    raw = request.__dict__.get("_body", b"")
    if request.content_type == _FORM:
        fields = QueryDict(raw).dict()
        return {name: value for name, value in fields.items() if name not in _OF_PAGES}
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return MASK  # it may contain anything


def _record(
    request: HttpRequest,
    response: HttpResponse,
    seconds: float,
    *,
    method: str,
    path: str,
    body: Any,
    authorized: bool,
) -> None:
    path = without_tokens(path)
    _calls.append(
        Call(
            id=str(time.time_ns()),
            method=method,
            path=path,
            status=response.status_code,
            milliseconds=round(seconds * 1000),
            command=command(
                method, request.build_absolute_uri("/")[:-1] + path, body, authorized=authorized
            ),
            response=_shown(response),
        )
    )


def command(method: str, url: str, body: Any, *, authorized: bool) -> str:
    """A command for a shell. The access token is a variable of it."""
    parts = [f"curl -sS -X {method} {quote(url)}"]
    if authorized:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if body:
        parts.append(f"-H {quote(f'Content-Type: {_JSON}')}")
        parts.append(f"-d {quote(json.dumps(masked(body), ensure_ascii=False))}")
    return " \\\n  ".join(parts)


def _shown(response: HttpResponse) -> str:
    if location := response.headers.get("Location"):
        return f"Location: {without_tokens(location)}"
    if response.streaming:
        return "(a file)"  # reading it here would leave nothing for the client
    if _kind(response) != _JSON:
        return "(a page)" if response.content else ""
    text = json.dumps(masked(json.loads(response.content)), ensure_ascii=False, indent=2)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n{MASK}"


def masked(value: Any, name: str = "") -> Any:
    """The same JSON without passwords, tokens and codes."""
    if isinstance(value, Mapping):
        # The code of an error names it, and is no secret.
        is_error = "message" in value
        return {
            key: part if is_error and key == "code" else masked(part, key)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [masked(part, name) for part in value]
    if isinstance(value, str) and value and _SECRET.search(name):
        return f"eyJ{MASK}" if value.startswith("eyJ") else MASK
    return without_tokens(value) if isinstance(value, str) else value


def without_tokens(url: str) -> str:
    """The same text, in which the query of an address has no token and no code."""
    return _IN_QUERY.sub(rf"\1{MASK}", url)
