"""Audited actions: their type, and the list of those that can be recorded.

An app declares its actions in its `AppConfig` (`ModuleConfig.actions`), so the list has those of
core and of the installed modules. An event with another action raises `KeyError`, so every entry
can be looked up. Severities never change, because lists rely on them for entries of any age. To
raise a severity, add a new action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.dispatch import Signal

INFO, WARNING, CRITICAL = "info", "warning", "critical"
SEVERITIES = (INFO, WARNING, CRITICAL)

USER, ADMIN, SYSTEM = "user", "admin", "system"
ANYBODY = (USER, ADMIN, SYSTEM)
STAFF = (ADMIN, SYSTEM)


@dataclass(frozen=True)
class Action:
    """`text` is shown to people; `actors` are the types of actor that may perform the action;
    `when` says in the reference of the docs when it is recorded. `signal` is sent to receivers of
    the project after the commit."""

    text: str
    severity: str = INFO
    actors: tuple[str, ...] = (USER,)
    when: str = field(kw_only=True)
    signal: Signal | None = field(default=None, kw_only=True)


ACTIONS: dict[str, Action] = {}


def declare(entries: Mapping[str, Action]) -> None:
    """Add actions to the list. Raises `ValueError` if a name has another action already."""
    for name, action in entries.items():
        if ACTIONS.setdefault(name, action) != action:
            raise ValueError(f"{name!r} is the name of another action.")


def named(pattern: str, among: Iterable[str]) -> list[str]:
    """The names of `among` that a pattern selects: one action with those below it (`auth.login`),
    or all actions with a prefix (`auth.log*`)."""
    if pattern.endswith("*"):
        return [name for name in among if name.startswith(pattern[:-1])]
    stem = pattern.rstrip(".")
    return [name for name in among if name == stem or name.startswith(f"{stem}.")]
