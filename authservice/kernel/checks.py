"""The list of system checks, and the function that makes Django's message from an id.

Each id has one entry: what is wrong and what happens because of it, and what to do. Ids are
public: the letter is the level (E error, W warning, I information), and a number keeps its meaning.
The file that reports a check adds its entry with `declare`. An app of the host project does the
same, under a prefix of its own:

    declare({"shop.E001": ("SHOP_ID is not set: no link can be made.", "Set SHOP_ID.")})

    def check_shop(**_):
        if not settings.SHOP_ID:
            yield message("shop.E001")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.checks import ERROR, INFO, WARNING, CheckMessage

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
    """The first `most` items of a text, and how many more there are; by default those of `items`.
    Also for reports of commands."""
    more = (len(items) if total is None else total) - most
    return ", ".join(map(str, items[:most])) + (f" and {more} more" if more > 0 else "")
