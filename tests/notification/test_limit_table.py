"""The table of limits is complete, and the docs show it."""

import re
from datetime import timedelta
from pathlib import Path

import authservice
from authservice.core.messages import limits
from authservice.core.messages.limits import LIMITS, Limit

DOCS = Path(authservice.__file__).parent.parent / "docs"


def test_every_limit_is_in_the_table():
    declared = [value for value in vars(limits).values() if isinstance(value, Limit)]

    assert declared
    assert [one for one in declared if one not in LIMITS] == []


def test_every_limit_has_a_name_of_its_own():
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)


def test_the_docs_show_the_table():
    assert "\n.. send-limits::\n" in (DOCS / "notification.rst").read_text()


def test_no_window_is_longer_than_a_counter_is_kept():
    assert max(limit.window for limit in LIMITS) <= timedelta(days=1)


def test_nothing_is_sent_but_by_the_worker_that_counts():
    """Messages are composed and sent in one place, which counts those that nobody requested."""
    sources = DOCS.parent.joinpath("authservice").rglob("*.py")
    composing = {
        path.name for path in sources if re.search(r"compose\.compose\(", path.read_text())
    }

    assert composing == {"worker.py", "testing.py"}
