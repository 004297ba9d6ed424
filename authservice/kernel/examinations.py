"""Examinations of an installation: what `authservice_doctor` runs, and what they find.

A module names its examinations in its `AppConfig`, as dotted paths of functions that take a `Visit`
and yield findings. Each call to another program has a time limit, so that one that does not answer
cannot keep the command from reporting the rest. Rules on settings alone are system checks, which
the command runs too.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from django.db import connections, transaction
from django.utils.module_loading import import_string

from authservice.kernel import databases, modules

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


def of_modules() -> Iterator[tuple[str, Callable[[Visit], Iterator[Finding]]]]:
    """The examinations of the installed modules, by their dotted paths."""
    for config in modules.installed():
        for path in config.examinations:
            yield path, import_string(path)


def fault_of(error: BaseException) -> str:
    """What went wrong, in one line: the class of the error and the first line of its text."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__


def skew(whose: str, seconds: float, *, settings: str = "") -> Finding:
    """The finding for a clock that differs from that of this machine by so many seconds."""
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
