"""What the tests of this folder share: how many examples they try, JSON values, and a limit of the
processor time of one example."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = "FUZZ_EXAMPLES"
SECONDS = 1.0  # what is longest takes a hundredth; quadratic time on 64 KiB takes minutes
_wanted = int(os.environ.get(EXAMPLES, 0))


def tried(examples: int) -> settings:
    """The same `examples` in each run of the suite, or as many random ones as `EXAMPLES` says."""
    return settings(
        max_examples=_wanted or examples,
        derandomize=not _wanted,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def bounded() -> Iterator[None]:
    """Fails if the block takes more than `SECONDS` of this process's processor time, which the
    load of the machine does not change.

    Without the garbage collector: after thousands of tests a full collection can take as long.
    """
    gc.disable()
    started = time.process_time()
    try:
        yield
        spent = time.process_time() - started
    finally:
        gc.enable()
    assert spent < SECONDS


# Surrogates, NUL and combining marks are likely; `st.text` alone rarely makes them.
ODD = st.sampled_from(
    [
        "",
        "\x00",
        "\ud800",
        "\udfff",
        "\u0301" * 40,
        "\u202e",
        "\ufeff",
        "\u00df",
        "\u0130",
        " ",
        "0",
    ]
)
TEXTS = ODD | st.text(st.characters(), max_size=40) | st.builds("".join, st.lists(ODD, max_size=4))
NUMBERS = (
    st.integers()
    | st.floats()
    | st.sampled_from([0, -1, 2**31, 2**63, 2**64, 10**400, -(10**400), 1e308, -1e308, 1e-320])
)


def _nested(value: object, deep: int) -> object:
    for level in range(deep):
        value = [value] if level % 2 else {"a": value}
    return value


DEEP = st.builds(_nested, st.none() | st.text(max_size=2), st.sampled_from([50, 300, 450]))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
