"""What an action of a view takes and answers, said beside it and read by the API description.

    @operation("Log in", body=LoginIn, answer=Authenticated, faults=(errors.InvalidCredentials,))
    def log_in(self) -> HttpResponse: ...

Saying it changes nothing at run time: the function that comes back is the very one that went in.

Only refusals of the action itself are listed. Each route has others by its nature: those of the
token where it is not public, of a body where its method has one, the flood limit, a crash.
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
    """Keywords of JSON Schema beside a type: `Annotated[str, Is(format="uuid")]`."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


# Strings of a form, for TypedDicts.
Moment = Annotated[str, Is(format="date-time")]
Uuid = Annotated[str, Is(format="uuid")]
Email = Annotated[str, Is(format="email")]
Uri = Annotated[str, Is(format="uri")]


@dataclass(frozen=True)
class Raw:
    """An answer outside the envelope: its media types and, of JSON, the type of all of it."""

    media_types: tuple[str, ...] = ("application/json",)
    body: Any = str


@dataclass(frozen=True)
class Slot:
    """Marks a field whose properties are those that the fillers of a slot return."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One action: `answer` is the type of `data` (a TypedDict, a list of one, a union, None) or a
    `Raw`, and `faults` are its own errors.

    `also` has further statuses that are not errors, `redirect` says where a redirect leads (302 or
    `redirect_status`), `page` when a browser gets an HTML page instead. `id` is the operation's
    public name if the default, made of the route's name, is not used.
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
    """Describe the decorated action; `more` are further fields of `Operation`."""
    described = Operation(
        summary=summary, body=body, query=query, answer=answer, status=status, faults=faults, **more
    )

    def describe(action: Action) -> Action:
        action.operation = described  # type: ignore[attr-defined]
        return action

    return describe


_carried: dict[Any, tuple[str, ...]] = {}


def carries(*headers: str) -> Callable[[T], T]:
    """Decorates a TypedDict: answers of this type come with these headers."""

    def note(answer: T) -> T:
        _carried[answer] = headers
        return answer

    return note


def carried(answer: Any) -> tuple[str, ...]:
    return _carried.get(answer, ())
