"""Declare the request and response of a view's action, for the API description.

    @operation("Log in", body=LoginIn, answer=Authenticated, faults=(errors.InvalidCredentials,))
    def log_in(self) -> HttpResponse: ...

The declaration has no effect at run time: the decorator returns the function itself.

It lists only the errors of the action itself. The API description adds those that every route of a
kind can return: token errors if the route is not public, body errors if its method has a body, the
flood limit, internal errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from rest_framework import serializers

from authservice.kernel.errors import Fault

Action = TypeVar("Action", bound=Callable[..., Any])
T = TypeVar("T")
Schema = type[serializers.Serializer[Any]]


class Is:
    """JSON Schema keywords to add to a type: `Annotated[str, Is(format="uuid")]`."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


# Strings with a format, for TypedDicts.
Moment = Annotated[str, Is(format="date-time")]
Uuid = Annotated[str, Is(format="uuid")]
Email = Annotated[str, Is(format="email")]
Uri = Annotated[str, Is(format="uri")]


@dataclass(frozen=True)
class Raw:
    """A response without the envelope: its media types and, for JSON, the type of the body."""

    media_types: tuple[str, ...] = ("application/json",)
    body: Any = str


@dataclass(frozen=True)
class Slot:
    """Marks a field whose properties are those that the fillers of the slot return."""

    name: str


@dataclass(frozen=True)
class Named:
    """Names a union of types, so that the description has it as a component."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One action. `answer` is the type of `data` (a TypedDict, a list of one, a union, None) or a
    `Raw`; `faults` are the errors of the action itself.

    `also` maps further success statuses to their types. `redirect` describes the target of a
    redirect with status `redirect_status`. `page` describes when a browser gets an HTML page
    instead. `id` is the public operation id; by default it is derived from the route's name.
    """

    summary: str
    body: Schema | None = None
    query: Schema | None = None
    answer: Any = None
    status: int = 200
    faults: tuple[type[Fault], ...] = ()
    also: Mapping[int, Any] = field(default_factory=dict)
    redirect: str = ""
    redirect_status: int = 302
    page: str = ""
    id: str = ""


def operation(
    summary: str,
    *,
    body: Schema | None = None,
    query: Schema | None = None,
    answer: Any = None,
    status: int = 200,
    faults: tuple[type[Fault], ...] = (),
    **more: Any,
) -> Callable[[Action], Action]:
    """Decorator that describes an action; `more` are further fields of `Operation`."""
    described = Operation(
        summary=summary, body=body, query=query, answer=answer, status=status, faults=faults, **more
    )

    def describe(action: Action) -> Action:
        action.operation = described  # type: ignore[attr-defined]
        return action

    return describe


_Further = Callable[[], Mapping[str, tuple[Any, bool]]]
_extended: dict[Any, _Further] = {}


def extended(further: _Further) -> Callable[[T], T]:
    """Decorator for a TypedDict: `further` returns its further properties, which the host project
    configures: by name, the field of a model or another attribute, and whether it may be absent."""

    def note(answer: T) -> T:
        _extended[answer] = further
        return answer

    return note


def extension(answer: Any) -> Mapping[str, tuple[Any, bool]]:
    return _extended[answer]() if answer in _extended else {}


_carried: dict[Any, tuple[str, ...]] = {}


def carries(*headers: str) -> Callable[[T], T]:
    """Decorator for a TypedDict: declares the headers of responses of this type."""

    def note(answer: T) -> T:
        _carried[answer] = headers
        return answer

    return note


def carried(answer: Any) -> tuple[str, ...]:
    return _carried.get(answer, ())
