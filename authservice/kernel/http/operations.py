"""Declare the method, the request and the response of a view's action.

    @operation("POST", body=LoginIn, answer=Authenticated, faults=(errors.InvalidCredentials,))
    def log_in(self) -> HttpResponse:
        '''Log in with a password

        What the operation does, what comes next, and which errors a front end handles.
        '''

The first line of the docstring is the summary of the operation, the rest its description in
Markdown. `Endpoint.actions` reads the methods, and the API description the rest. The decorator
returns the function itself.

The declaration lists only the errors of the action itself. The API description adds those that
every route of a kind can return: token errors if the route is not public, body errors if its method
has a body, the flood limit, internal errors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from rest_framework import serializers

from authservice.kernel.errors import Fault

Action = TypeVar("Action", bound=Callable[..., Any])
T = TypeVar("T")
Schema = type[serializers.Serializer[Any]]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One action. `methods` are those of HTTP; a class without a `path` gives them to `as_view`.
    `answer` is the type of `data` (a TypedDict, a list of one, a union, None) or a `Raw`;
    `answered` is what the usual response to a successful request means, empty if its type says so;
    `faults` are the errors of the action itself.

    `also` maps further success statuses to their types. `redirect` describes the target of a
    redirect with status `redirect_status`. `page` describes when a browser gets an HTML page
    instead. `id` is the public operation id; by default it is derived from the route's name.
    """

    summary: str
    methods: tuple[str, ...] = ()
    description: str = ""
    body: Schema | None = None
    query: Schema | None = None
    answer: Any = None
    answered: str = ""
    status: int = 200
    faults: tuple[type[Fault], ...] = ()
    also: Mapping[int, Any] = field(default_factory=dict)
    redirect: str = ""
    redirect_status: int = 302
    page: str = ""
    id: str = ""

    @property
    def answers(self) -> dict[int, Any]:
        """The type of each successful response, by status."""
        return {self.status: self.answer, **self.also}


def operation(
    *methods: str,
    body: Schema | None = None,
    query: Schema | None = None,
    answer: Any = None,
    status: int = 200,
    faults: tuple[type[Fault], ...] = (),
    **more: Any,
) -> Callable[[Action], Action]:
    """Decorator that declares an action of these HTTP methods, such as `"GET"`; `more` are further
    fields of `Operation`."""

    def describe(action: Action) -> Action:
        # Without docstrings (`python -OO`) an operation has its id only.
        summary, _, description = inspect.cleandoc(action.__doc__ or "").partition("\n\n")
        described = Operation(
            summary=summary,
            methods=methods,
            description=description,
            body=body,
            query=query,
            answer=answer,
            status=status,
            faults=faults,
            **more,
        )
        action.operation = described  # type: ignore[attr-defined]
        return action

    return describe


class Is:
    """JSON Schema keywords to add to a type: `Annotated[str, Is(format="date-time")]`. A value that
    depends on a setting is a function, which the description calls."""

    def __init__(self, **keywords: Any) -> None:
        self._keywords = keywords

    @property
    def keywords(self) -> dict[str, Any]:
        return {
            word: value() if callable(value) else value for word, value in self._keywords.items()
        }


# Strings with a format, for TypedDicts.
Moment = Annotated[str, Is(format="date-time")]
Email = Annotated[str, Is(format="email")]
Uri = Annotated[str, Is(format="uri")]


@dataclass(frozen=True)
class Raw:
    """A response without the envelope: its media types and, for JSON, the type of the body."""

    media_types: tuple[str, ...] = ("application/json",)
    body: Any = str


@dataclass(frozen=True)
class Extras:
    """Marks the field whose properties are those that modules add (`SessionData.extras`)."""


@dataclass(frozen=True)
class Named:
    """Names a type that has no name, such as a union, so that the description has it as a
    component."""

    name: str


_Properties = Callable[[], Mapping[str, tuple[Any, bool]]]
_extended: dict[Any, _Properties] = {}


def extended(extra_properties: _Properties) -> Callable[[T], T]:
    """Decorator for a TypedDict: `extra_properties` returns the properties that the host project
    adds: by name, the field of a model or another attribute, and whether it may be absent."""

    def note(answer: T) -> T:
        _extended[answer] = extra_properties
        return answer

    return note


def extension(answer: Any) -> Mapping[str, tuple[Any, bool]]:
    """The further properties of the type, as the function of `extended` returns them."""
    return _extended[answer]() if answer in _extended else {}


_carried: dict[Any, tuple[str, ...]] = {}


def carries(*headers: str) -> Callable[[T], T]:
    """Decorator for a TypedDict: declares the headers of responses of this type."""

    def note(answer: T) -> T:
        _carried[answer] = headers
        return answer

    return note


def carried(answer: Any) -> tuple[str, ...]:
    """The headers that `carries` declares for the type."""
    return _carried.get(answer, ())
