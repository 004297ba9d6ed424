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
from time import perf_counter
from typing import Any

from django.dispatch import Signal
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import NoReverseMatch, reverse

from authservice.core.api import callers
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.guarded_routes import routes_of
from authservice.core.sessions.bearer import Caller
from authservice.kernel.errors import Fault, NotFound
from authservice.kernel.http.envelope import refusal
from authservice.kernel.modules import installed
from authservice.kernel.settings import cached_for_host

called = Signal()
"""A page has called a route; for tools of developers, since no middleware sees it. `request` is the
inner request, `path` the address of the route without the query, `body` its JSON, which may have
passwords and codes, `response` the answer, `seconds` how long it took, and `signed_in` whether it
was called for a user."""
_PAGES = "authservice.pages"
_FAULT = "_authservice_fault"
# Headers about the body of the form, or about the user, whom the page has identified already.
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
    """Call a route as `caller`, or as nobody. `path` are the values in its path; raises `NotFound`
    if the route cannot have them."""
    address = _address(route, path or {})
    inner = _request(request, method, body or {}, query)
    callers.call_as(inner, caller and caller.again(shared=_may_share(request, method)))
    if caller is not None and method not in callers.SAFE_METHODS:
        caller.stop_sharing()
    started = perf_counter()
    response: HttpResponse = _quiet(view(route))(inner, **(path or {}))
    if called.receivers:
        seconds = perf_counter() - started
        signed_in = caller is not None
        details = {"path": address, "body": body, "response": response}
        called.send(sender=None, request=inner, signed_in=signed_in, seconds=seconds, **details)
    fault: Fault | None = inner.__dict__.get(_FAULT)
    if fault is not None or response.streaming or not response.content:
        return Answer(response, None, fault)
    return Answer(response, json.loads(response.content, object_hook=Values)["data"], None)


def _address(route: str, path: Mapping[str, str]) -> str:
    """The path of the route. `path` may be what a visitor has put into an address."""
    try:
        return reverse(f"authservice:{route}", kwargs=dict(path))
    except NoReverseMatch as error:
        raise NotFound from error


def _may_share(request: HttpRequest, method: str) -> bool:
    """Whether a route may have the user whom the page has read. Not one that reads after a form was
    sent: a section of the project may have changed the user itself."""
    return (request.method in callers.SAFE_METHODS) == (method in callers.SAFE_METHODS)


def _request(request: HttpRequest, method: str, body: Mapping[str, Any], query: str) -> HttpRequest:
    inner = copy.copy(request)
    meta = {name: value for name, value in request.META.items() if name not in _NOT_PASSED}
    inner.META = {
        **meta,
        "CONTENT_TYPE": "application/json",
        # As of a program: a browser would get a page from the route of a mailed link.
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
    """The view of a route, which keeps an error for the page instead of answering it: with all
    invalid fields, whatever `API.ERROR_DETAILS` says, and with no redirect to a front end."""
    own = {"refuse": _keep, "is_counted": False}
    quiet: Any = type(route_view.cls.__name__, (route_view.cls,), own)
    return quiet.as_view(route_view.actions, **{**route_view.initkwargs, "guard_exempt": True})  # type: ignore[no-any-return]


def _keep(endpoint: Endpoint, fault: Fault) -> HttpResponse:
    endpoint.request.__dict__[_FAULT] = fault
    return refusal(fault)


def exists(route: str) -> bool:
    """Whether an installed module has a route with this name."""
    return route in _views()


def view(route: str) -> Any:
    """The view of a route as the URLconf has it, for a request that is not for a page."""
    return _views()[route]


def choices(route: str, field: str) -> list[str]:
    """The values that a field of the body of a route may have."""
    route_view = view(route)
    action = getattr(route_view.cls, next(iter(route_view.actions.values())))
    return list(action.operation.body().fields[field].choices)


@cached_for_host
def _views() -> Mapping[str, Any]:
    # Without the pages, whose URLconf asks what routes the other modules have.
    others = (module for module in installed() if module.name != _PAGES)
    routes = [route for module in others for route in routes_of(module)]
    return {
        route.name: route.callback
        for route in routes
        if issubclass(getattr(route.callback, "cls", object), Endpoint)
    }
