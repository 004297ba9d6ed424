"""Calls of the API by the pages, in the same process.

A page has no rules of its own: each form is a request to a route, with its limits, its checks and
its audit entries. The route gets a request of its own with a JSON body, the client of the page and
the user whom the page has identified. The page has refused forms of other sites, so the request
guards are not asked again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict

from authservice.core.api import callers
from authservice.core.api.endpoint import Endpoint
from authservice.core.sessions.bearer import Caller
from authservice.kernel import modules
from authservice.kernel.errors import Fault
from authservice.kernel.http.envelope import refusal
from authservice.kernel.settings import cached_for_host

OWN_URLS = "authservice.pages.urls"
_FAULT = "_authservice_fault"
# About the body of the form, or the user whom the page has identified already.
_NOT_PASSED = ("HTTP_AUTHORIZATION", "HTTP_CONTENT_ENCODING", "HTTP_TRANSFER_ENCODING")


class Values(dict[str, Any]):
    """JSON that no error report shows: passwords, tokens and codes are in it."""

    def __repr__(self) -> str:
        return "Values(...)"


@dataclass(frozen=True)
class Answer:
    """What a route answered: `data` of its envelope, or the error that it raised."""

    response: HttpResponse
    data: Any
    fault: Fault | None

    @property
    def total(self) -> int:
        """The number of all rows of a list that is answered as an array."""
        return int(self.response.headers.get("X-Total-Count", 0))


def exists(route: str) -> bool:
    """Whether an installed module has a route with this name."""
    return route in _views()


def view(route: str) -> Any:
    """The view of a route as the URLconf has it, for a request that is not for a page."""
    return _views()[route]


def choices(route: str, field: str) -> list[str]:
    """The values that a field of the body of a route may have."""
    found = view(route)
    action = getattr(found.cls, next(iter(found.actions.values())))
    return list(action.operation.body().fields[field].choices)


def call(
    request: HttpRequest,
    route: str,
    method: str,
    body: Mapping[str, Any] | None = None,
    *,
    caller: Caller | None,
    query: str = "",
    path: Mapping[str, str] | None = None,
) -> Answer:
    """Call a route as `caller`, or as nobody. `path` are the values in its path."""
    inner = _request(request, method, body or {}, query)
    callers.call_as(inner, caller)
    response: HttpResponse = _quiet(view(route))(inner, **(path or {}))
    fault: Fault | None = inner.__dict__.get(_FAULT)
    if fault is not None or not response.content:
        return Answer(response, None, fault)
    return Answer(response, json.loads(response.content, object_hook=Values)["data"], None)


def _request(request: HttpRequest, method: str, body: Mapping[str, Any], query: str) -> HttpRequest:
    inner = copy.copy(request)
    meta = {name: value for name, value in request.META.items() if name not in _NOT_PASSED}
    inner.META = {
        **meta,
        "CONTENT_TYPE": "application/json",
        # A program: a browser would get a page for a mailed link.
        "HTTP_ACCEPT": "application/json",
        "QUERY_STRING": query,
    }
    inner.method, inner.content_type, inner.content_params = method, "application/json", {}
    inner.GET = QueryDict(query)
    inner.__dict__["_body"] = json.dumps(body).encode()
    inner.META["CONTENT_LENGTH"] = str(len(inner.body))
    for name in ("headers", "accepted_types", "_post", "_files", _FAULT):
        inner.__dict__.pop(name, None)
    return inner


@cache
def _quiet(route_view: Any) -> Callable[..., HttpResponse]:
    """The same view, which lets the page have the error itself: with all invalid fields, whatever
    `API.ERROR_DETAILS` says, and with no redirect to a front end."""
    kind: Any = type(route_view.cls.__name__, (route_view.cls,), {"refuse": _keep})
    return kind.as_view(route_view.actions, **{**route_view.initkwargs, "guard_exempt": True})  # type: ignore[no-any-return]


def _keep(endpoint: Endpoint, fault: Fault) -> HttpResponse:
    endpoint.request.__dict__[_FAULT] = fault
    return refusal(fault)


@cached_for_host
def _views() -> Mapping[str, Any]:
    # Without our own: the pages are built from what the others have.
    urlconfs = (urlconf for urlconf in modules.urlconfs() if urlconf != OWN_URLS)
    routes = [route for urlconf in urlconfs for route in import_module(urlconf).urlpatterns]
    return {
        route.name: route.callback
        for route in routes
        if issubclass(getattr(route.callback, "cls", object), Endpoint)
    }
