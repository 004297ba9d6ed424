"""The page of limits on messages, from the table in `core/messages/limits.py`."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.messages.limits import LIMITS, Limit
from tests.reference import rst
from tests.reference.settings import span

INTRO = """
Every e-mail and every SMS is checked against each limit that applies to it. Past a limit the
response stays the same, and nothing is sent. ``THROTTLE.ENABLED`` turns all of them off.
"""


def page() -> str:
    return rst.page("Limits on messages", INTRO, _entries())


def _entries() -> Iterator[str]:
    for limit in LIMITS:
        yield rst.entry(rst.anchor("limit", limit.name), rst.literal(limit.name), _facts(limit))


def _facts(limit: Limit) -> str:
    return rst.fields(
        {
            "Messages": limit.messages,
            "Counted for each": limit.counted_for,
            "At most": f"{limit.amount} in {span(limit.window)}",
        }
    )
