"""Calls of the package that read the clock more than once."""

import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import authservice
from authservice.kernel import clock

ROOT = str(Path(authservice.__file__).parent)
# Work that takes long reads the clock for each of its units: commands, and loops that wait.
LONG = ("/management/", "/dispatchers/", "/importing/", "/kernel/clock.py", "/testing.py")
# A middleware calls the views of the project, such as Django admin. No unit spans them: each call
# of a rule in them has a time of its own.
LONG += ("middleware.py",)
# It hands the batches of an import to its caller.
LONG += ("/kernel/imports.py",)
# Its decorators call the functions that they check, and it repeats the function of its caller: a
# batch of an import, or a rule, which is a call itself.
LONG += ("/kernel/databases.py",)
# Ends the sessions of all users in batches, each of which is a unit.
LOOPS = ("revoke_everyone",)

_READ = clock._read


@cache
def is_counted(file):
    """Whether calls into a file are counted: one of the package, except for long work."""
    return file.startswith(ROOT) and not any(part in file for part in LONG)


_UNIT = clock.unit.__enter__.__code__


def outermost():
    """The frame of the first call into the package, without those of long work; None in a unit."""
    frame, found = sys._getframe(3), None
    while frame is not None:
        if frame.f_code is _UNIT:
            return None
        if frame.f_code.co_name not in LOOPS and is_counted(frame.f_code.co_filename):
            found = frame
        frame = frame.f_back
    return found


class Calls:
    """The calls into the package that have read the clock in a test."""

    def __init__(self):
        self.seen, self.twice = [], []

    def count(self):
        call = outermost()
        if call is None:
            return
        if call in self.seen:
            code = call.f_code
            self.twice.append(f"{code.co_filename}:{call.f_lineno} {code.co_qualname}")
        self.seen.append(call)


_counting = None


def _count_and_read():
    if _counting is not None:
        _counting.count()
    return _READ()


@contextmanager
def counted():
    """Within this block, which spans all tests, `once_a_call` sees each reading. It replaces the
    clock once: a test that replaces it too may put it back after its own fixtures have ended."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(clock, "_read", _count_and_read)
        yield


@contextmanager
def once_a_call():
    """Fails if one call into the package reads the clock twice outside of a unit of work."""
    global _counting
    assert clock._read is _count_and_read, "an earlier test left its clock behind"
    before, calls = _counting, Calls()
    _counting = calls
    try:
        yield
    finally:
        _counting = before
        calls.seen.clear()  # frames keep the values of their variables
    if calls.twice:
        again = ", ".join(sorted(set(calls.twice)))
        pytest.fail(f"Read the clock again: {again}", pytrace=False)
