"""Functions of tests as the only filler of a slot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from authservice.kernel import modules
from authservice.kernel.events import Event, EventListener
from authservice.kernel.interfaces import AccountAccess, Arrival, Challenge, SecondFactor


class Listener(EventListener):
    def __init__(self, record: Callable[[Event], Any]) -> None:
        self._record = record

    def record(self, event: Event) -> None:
        self._record(event)


class Factor(SecondFactor):
    def __init__(self, ask: Callable[[Arrival], Challenge | None]) -> None:
        self._ask = ask

    def ask(self, arrival: Arrival) -> Challenge | None:
        return self._ask(arrival)


def listening(record: Callable[[Event], Any]) -> AbstractContextManager[None]:
    return modules.plugged("event_listener", Listener(record))


def asking(ask: Callable[[Arrival], Challenge | None]) -> AbstractContextManager[None]:
    return modules.plugged("second_factor", Factor(ask))


def accessing(**methods: Callable[..., Any]) -> AbstractContextManager[None]:
    """An account access with these methods."""
    functions = {name: staticmethod(method) for name, method in methods.items()}
    return modules.plugged("account_access", type("Access", (AccountAccess,), functions)())
