"""What can be wrong with an installation: system checks, which look at settings, and examinations,
which `authservice_doctor` runs.

Each id of a check has one entry: what is wrong and what happens because of it, and what to do. Ids
are public: the letter is the level (E error, W warning, I information), and a number keeps its
meaning. The file that reports a check adds its entry with `declare`. An app of the host project
does the same, under a prefix of its own:

    declare({"shop.E001": ("SHOP_ID is not set: no link can be made.", "Set SHOP_ID.")})

    def check_shop(**_):
        if not settings.SHOP_ID:
            yield message("shop.E001")

A module names its examinations in its `AppConfig`, as dotted paths of functions that take a `Visit`
and yield findings. Each call to another program has a time limit, so that one that does not answer
cannot keep the command from reporting the rest. Rules on settings alone are system checks, which
the command runs too.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from django.core.checks import ERROR, INFO, WARNING, CheckMessage
from django.db import connections, transaction
from django.utils.module_loading import import_string

from authservice.kernel import databases, modules

LEVELS: Mapping[str, int] = {"E": ERROR, "W": WARNING, "I": INFO}
_ID = re.compile(r"[a-z_]+\.([EWI])[0-9]{3}")


@dataclass(frozen=True)
class Check:
    """`cause` is what is wrong and what happens because of it, `remedy` is what to do about it. The
    report of `authservice_doctor` lists it in its `area`. A `grave` warning means that a service in
    production is down or open."""

    cause: str
    remedy: str
    level: int
    area: str = "settings"
    grave: bool = False


CHECKS: dict[str, Check] = {}


def declare(
    entries: Mapping[str, tuple[str, str]], *, area: str = "settings", grave: bool = False
) -> None:
    """Add entries to the list: cause and remedy by id, such as `shop.E001`; `area` and `grave` are
    described at `Check`. Raises `ValueError` if an id is not of this form or has another entry
    already."""
    for name, (cause, remedy) in entries.items():
        parsed = _ID.fullmatch(name)
        if not parsed:
            raise ValueError(f"{name!r} is not an id such as 'shop.E001'.")
        check = Check(cause, remedy, LEVELS[parsed[1]], area, grave)
        if CHECKS.setdefault(name, check) != check:
            raise ValueError(f"{name!r} is the id of another check.")


def message(name: str, text: str = "", *, hint: str = "", obj: Any = None) -> CheckMessage:
    """The message of the check with this id. `text` and `hint` replace cause and remedy where they
    can name the value. Raises `KeyError` if the id has no entry."""
    check = CHECKS[name]
    return CheckMessage(check.level, text or check.cause, hint or check.remedy, obj=obj, id=name)


def listed(items: Sequence[Any], *, most: int, total: int | None = None) -> str:
    """The first `most` items as a text, and how many more there are of `total`, by default the
    number of `items`. Also for reports of commands."""
    more = (len(items) if total is None else total) - most
    return ", ".join(map(str, items[:most])) + (f" and {more} more" if more > 0 else "")


Result = TypeVar("Result")
# The value of a call, or its error.
_Answer = queue.SimpleQueue[tuple[Any, BaseException | None]]

OK, ATTENTION, BROKEN = "ok", "attention", "broken"
STATES = (OK, ATTENTION, BROKEN)

# Seconds for one call to another program, and for all of them.
CALL = 5.0
WHOLE = 25.0
# A time step of an authenticator app is 30 seconds long, and the window is one step.
_SKEW_SEEN, _SKEW_BROKEN = timedelta(seconds=5), timedelta(seconds=30)


class NoAnswer(Exception):
    """The other side did not answer in time. The text says after how many seconds."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One sentence about an area, such as "mail".

    `settings` names what to change and `remedy` says what to do next; both are empty for `OK`.
    `check` is the id of the system check that reports the finding, or "".
    """

    area: str
    state: str
    text: str
    settings: str = ""
    remedy: str = ""
    check: str = ""


@dataclass
class Visit:
    """One run of the command. `send_to` is the address for a test mail, or "". `has_tables` is
    false if the database of the users does not answer or lacks tables: then no table is read."""

    send_to: str = ""
    has_tables: bool = True
    until: float = field(default_factory=lambda: monotonic() + WHOLE)

    def call(self, question: Callable[[], Result]) -> Result:
        """The result of a call to another program, within the time limit. Raises what the call
        raises, and `NoAnswer` if it takes too long."""
        (answer,) = self.calls([question])
        return answer()

    def calls(self, questions: Sequence[Callable[[], Result]]) -> list[Callable[[], Result]]:
        """Ask several programs at the same time. Each function of the list returns the result of
        its call, or raises as `call` does."""
        limit = min(CALL, self.until - monotonic())
        if limit <= 0:
            return [_not_asked] * len(questions)
        end = monotonic() + limit
        answers = [_in_thread(question) for question in questions]
        return [partial(_received, answer, end, limit) for answer in answers]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read tables of the service in this block. PostgreSQL ends a statement that takes too
        long."""
        using = databases.primary()
        connection = connections[using]
        with transaction.atomic(using=using):
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL statement_timeout = {int(CALL * 1000)}")
            yield


def examinations_of_modules() -> Iterator[tuple[str, Callable[[Visit], Iterator[Finding]]]]:
    """The examinations of the installed modules, by their dotted paths."""
    for config in modules.installed():
        for path in config.examinations:
            yield path, import_string(path)


def fault_of(error: BaseException) -> str:
    """What went wrong, in one line: the class of the error and the first line of its text."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__


def skew(whose: str, seconds: float, *, settings: str = "") -> Finding:
    """The finding for a clock that is so many seconds ahead of that of this machine; behind it if
    the number is negative."""
    text = f"The clock of {whose} differs from this machine's by {abs(seconds):.0f} s"
    direction = "ahead of it" if seconds > 0 else "behind it"
    if timedelta(seconds=abs(seconds)) < _SKEW_SEEN:
        return Finding(area="clock", state=OK, text=f"The clock of {whose} agrees.")
    is_broken = timedelta(seconds=abs(seconds)) >= _SKEW_BROKEN
    return Finding(
        area="clock",
        state=BROKEN if is_broken else ATTENTION,
        text=f"{text}, which is {direction}. Codes of authenticator apps are refused, and tokens"
        " and links expire at the wrong time.",
        settings=settings or "the system clock",
        remedy="Run `timedatectl` on both machines, and turn time synchronization (NTP) on where it"
        " is off.",
    )


def _in_thread(question: Callable[[], Any]) -> _Answer:
    """Call the question in a thread of its own; returns the queue that gets its answer. A thread
    that waits for a program that never answers is left behind, and does not keep the process from
    ending."""
    answer: _Answer = queue.SimpleQueue()

    def ask() -> None:
        try:
            answer.put((question(), None))
        except Exception as error:
            answer.put((None, error))
        finally:
            connections.close_all()

    threading.Thread(target=ask, name="authservice-doctor", daemon=True).start()
    return answer


def _received(answer: _Answer, end: float, limit: float) -> Any:
    """The value in the queue. Raises the error in the queue, or `NoAnswer` if it is empty until
    `end`."""
    try:
        value, error = answer.get(timeout=max(end - monotonic(), 0))
    except queue.Empty:
        raise NoAnswer(f"no answer within {limit:.0f} s") from None
    if error is not None:
        raise error
    return value


def _not_asked() -> Any:
    raise NoAnswer(f"not asked, since the {WHOLE:.0f} s of the whole command are over")
