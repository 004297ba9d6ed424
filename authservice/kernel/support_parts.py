"""What modules contribute to the support page of a user in Django admin, and to the export of data.

A module fills the slot `support` with an instance of a subclass of `Support`. It imports nothing of
Django admin: it names rows by model and key, and core turns them into links.

A module says at one place what it stores about a user, why, and what remains after the user is
deleted: `Support.personal_data` returns its parts of one JSON document that users and staff can
download. The document is written while rows are read, so a million rows need no more memory than
ten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.utils import timezone

from authservice.kernel.languages import phrase, translated
from authservice.kernel.modules import Slot

Row = Mapping[str, Any]

SHOWN = 10  # rows of a section; its link leads to all of them
# What remains of a part after the user was deleted, if there is no more to say.
REMOVED = phrase("Removed when the account is deleted.")
_ROWS = 500  # read at once
_ENCODED = 50  # encoded at once
_CHARACTERS = 32 * 1024  # of a chunk: each is sent on its own, and on an async server by a thread


@dataclass(frozen=True)
class Link:
    """A text that leads to the page of a row: `model` is "app_label.modelname", `pk` its key.

    Without `pk` it leads to the list, filtered by `query`. Staff who may not view the model see the
    text alone.
    """

    text: Any
    model: str
    pk: Any = None
    query: Mapping[str, str] = field(default_factory=dict)


Cell = str | datetime | Link | None


@dataclass(frozen=True)
class Section:
    """A table: a title, the headings of the columns, and rows of cells. `more` leads to all rows.
    `empty` is the text without rows, "" for "None.", which languages inflect for a plural title.

    Cells never hold a secret, a digest or a key.
    """

    title: Any
    headings: Sequence[Any]
    rows: Sequence[Sequence[Cell]]
    more: Link | None = None
    empty: Any = ""


@dataclass(frozen=True)
class Obstacle:
    """One sentence about logging in. `blocks` says that the user cannot log in because of it;
    otherwise it is a step of every login, or worth knowing."""

    text: str
    blocks: bool = True


@dataclass(frozen=True, kw_only=True)
class Button:
    """An action on the support page. Core asks for a confirmation, checks the rights of the member
    of staff over the user, locks the user, and calls `run`.

    `name` is part of the URL, `question` the text of the confirmation page, `permission` a
    permission of Django such as "app_label.codename". `offered` says whether the action makes sense
    for the user now. `run(person, by=…, client=…)` returns what was done, as a sentence; `by` is
    the row of the member of staff. It may raise a `Fault`, and then nothing is changed.
    `deactivates` says that a super admin may lose their rights by the action. `of_address` says
    that the action vouches for the address that the confirmation page has shown: nothing is done if
    the user has another address by then.
    """

    name: str
    label: Any
    question: Any
    permission: str
    offered: Callable[[Any], bool]
    run: Callable[..., str]
    deactivates: bool = False
    of_address: bool = False


@dataclass(frozen=True, kw_only=True)
class Part:
    """One kind of rows about a user.

    `purpose` says in a sentence what they are stored for, `after_deletion` what remains of them
    when the user is deleted: phrases, translated when the part is made, in the request of the user.
    `rows` are dicts of JSON values, datetimes, UUIDs and decimals, without a secret, hash or token.
    They are read once, while the document is written, after the request of the user has ended.
    """

    name: str
    purpose: str
    rows: Iterable[Row]
    after_deletion: str = ""

    def __post_init__(self) -> None:
        for text in ("purpose", "after_deletion"):
            if getattr(self, text):
                object.__setattr__(self, text, translated(getattr(self, text)))


class Support(Slot):
    """Slot `support`: what a module stores about a user, for staff and for the user.

    Staff see it on the support page of the user in Django admin, users in the export of their data.

    `person` is the user, as in the other slots.
    """

    slot = "support"

    view: str = ""
    """The permission that shows the obstacles and sections, such as "app_label.view_model"."""

    buttons: Sequence[Button] = ()
    """The actions of the module."""

    extra_permissions: Sequence[str] = ()
    """Other permissions that support staff need, such as those of linked pages."""

    def obstacles(self, person: Any) -> Iterable[Obstacle]:
        """Why the user cannot log in, as far as the module knows."""
        return ()

    def counters(self, person: Any) -> Iterable[Any]:
        """The counters of attempts that can lock the user out, as
        `authservice.core.credentials.attempt_counter.Counter`."""
        return ()

    def sections(self, person: Any) -> Iterable[Section]:
        """The tables of the module, in a fixed number of queries."""
        return ()

    def personal_data(self, person: Any) -> Iterable[Part]:
        """Every row that the module stores about the user, for the export of their data, which
        users and authorities read. The querysets are made here, and read later."""
        return ()

    def addresses(self, person: Any, action: str, number: int) -> Sequence[str]:
        """The network addresses of the newest `number` recorded actions of the user, each once."""
        return ()


def stored(
    queryset: QuerySet[Any], *columns: str, shown: Callable[[dict[str, Any]], Row] = dict
) -> Iterator[Row]:
    """These columns of the rows, in the order of their primary keys; `shown` may change each row.

    The rows are read in batches, each by a statement that begins after the last key. A server-side
    cursor would need a connection of its own for as long as a client takes to read the document,
    PgBouncer cannot keep such a cursor, and MySQL sends all rows at once without one.
    """
    last = None
    rows = queryset.order_by("pk").values(*columns, "pk")
    while batch := list((rows if last is None else rows.filter(pk__gt=last))[:_ROWS]):
        last = batch[-1]["pk"]
        for row in batch:
            yield shown({name: row[name] for name in columns})
        if len(batch) < _ROWS:
            return


def document(facts: Mapping[str, Any], parts: Iterable[Part]) -> Iterator[bytes]:
    """The chunks of the document: `{"data": {…, "parts": […], "complete": true}}`, with `facts`.

    If a part raises, the document ends there: its text is not valid JSON, and lacks `complete`.
    """
    texts: list[str] = []
    length = 0
    for text in _texts(facts, parts):
        texts.append(text)
        length += len(text)
        if length >= _CHARACTERS:
            yield _encoded(texts)
            texts, length = [], 0
    yield _encoded(texts)


def _texts(facts: Mapping[str, Any], parts: Iterable[Part]) -> Iterator[str]:
    # `[:-1]` leaves the closing brace out: the object has further members.
    yield f'{{"data":{_json(facts)[:-1]},"parts":['
    names: set[str] = set()
    for part in parts:
        if part.name in names:
            raise ValueError(f"There are two parts {part.name!r} in an export.")
        head = {"name": part.name, "purpose": part.purpose}
        if part.after_deletion:
            head["after_deletion"] = part.after_deletion
        yield f'{"," if names else ""}{_json(head)[:-1]},"rows":['
        names.add(part.name)
        yield from _rows(part)
        yield "]}"
    yield '],"complete":true}}'


def _rows(part: Part) -> Iterator[str]:
    # Several rows at once: preparing the encoder takes as long as encoding one row.
    rows, comma = map(partial(_copied, part.name), part.rows), ""
    while batch := list(islice(rows, _ENCODED)):
        yield comma + _json(batch)[1:-1]
        comma = ","


def _copied(part: str, row: Row) -> dict[str, Any]:
    """A copy of the row, made when the row is read: a generator of the project may fill one dict
    again and again. Raises `TypeError` for a row that is no dict."""
    if not isinstance(row, Mapping):
        raise TypeError(f"A row of the part {part!r} of an export is no dict.")
    return dict(row)


def _encoded(texts: list[str]) -> bytes:
    # A text may contain half of a surrogate pair, which UTF-8 cannot encode.
    return "".join(texts).encode(errors="replace")


def _value(value: Any) -> Any:
    """A JSON value for a value of a type that JSON does not have, such as a datetime. Raises
    `TypeError` if there is none, such as for a `Secret`."""
    if isinstance(value, datetime):
        # As everywhere in the API: in UTC, with microseconds, whatever zone is active.
        if timezone.is_naive(value):
            value = timezone.make_aware(value, timezone.get_default_timezone())
        naive = value.astimezone(UTC).replace(tzinfo=None)
        return f"{naive.isoformat(timespec='microseconds')}Z"
    return DjangoJSONEncoder().default(value)


_json = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_value
).encode
