"""An audited action: its text, its severity and the types of actor that may perform it."""

from __future__ import annotations

from dataclasses import dataclass, field

INFO, WARNING, CRITICAL = "info", "warning", "critical"
SEVERITIES = (INFO, WARNING, CRITICAL)

USER, ADMIN, SYSTEM = "user", "admin", "system"
ANYBODY = (USER, ADMIN, SYSTEM)
STAFF = (ADMIN, SYSTEM)
RESERVED = "Reserved: nothing records it yet."


@dataclass(frozen=True)
class Action:
    """`text` is shown to people; `actors` are the types of actor that may perform the action;
    `when` says in the reference of the docs when it is recorded."""

    text: str
    severity: str = INFO
    actors: tuple[str, ...] = (USER,)
    when: str = field(kw_only=True)
