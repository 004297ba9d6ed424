"""The table of limits contains every limit, and every message is counted."""

import re
from datetime import timedelta
from pathlib import Path

import authservice
from authservice.core.messages import limits
from authservice.core.messages.limits import LIMITS, Limit

SOURCES = Path(authservice.__file__).parent


def test_every_limit_is_in_the_table():
    declared = [value for value in vars(limits).values() if isinstance(value, Limit)]

    assert declared
    assert [one for one in declared if one not in LIMITS] == []


def test_every_limit_has_a_unique_name():
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)


def test_no_window_is_longer_than_counters_are_kept():
    assert max(limit.window for limit in LIMITS) <= timedelta(days=1)


def test_messages_are_composed_only_by_the_worker():
    """The worker counts messages that no user requested; `testing.py` sends none."""
    composing = {
        path.name
        for path in SOURCES.rglob("*.py")
        if re.search(r"compose\.compose\(", path.read_text())
    }

    assert composing == {"worker.py", "testing.py"}
