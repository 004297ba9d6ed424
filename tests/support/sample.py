"""A pytest plugin: of the cases of each test function, one is run, and files run in another order.

For a second database, host or version, which were all tried on SQLite: cases differ in what is
sent, and a database or host matters to the statements of the function rather than to the input.
Load it with `-p tests.support.sample`; with EVERY_CASE=1 in the environment it leaves nothing out.
It imports nothing of `tests`, whose assertions pytest rewrites later. Suites that a test runs in
another host are a sample too.

With SHARE="2/3" in the environment the second of three places is meant: each test function that is
the same on every database (`once`) runs in one of them, and the others run where the database is
not SQLite, on which the default run tries them all.

Each place has its own order of files, so that a test which needs another file to run first or later
fails in one of them. ORDER in the environment chooses further orders.
"""

import os
import sys
from zlib import crc32

import django
import pytest

_PLACE = (
    os.environ.get("TEST_HOST", ""),
    os.environ.get("DATABASE_URL", "").partition(":")[0],
    os.environ.get("ORDER", ""),
    str(sys.version_info[:2]),
    str(django.VERSION[:2]),
)
# Each case sends other statements, or is one race.
_FOLDERS = ("races",)
_FILES = (
    *("test_bearer_alone.py", "test_ended_sessions.py", "test_equal_responses.py"),
    *("test_in_flight.py", "test_list.py", "test_lists.py", "test_migrations.py"),
    *("test_queries.py", "test_revocation.py"),
)


def pytest_configure():
    os.environ["SAMPLE"] = "1"


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    # Before conftest.py puts the longest files first, and the rest after `-m` and `--deselect`.
    items.sort(key=lambda item: _order(item.nodeid.partition("::")[0]))
    yield
    if not os.environ.get("EVERY_CASE"):
        _choose(config, items)


def _choose(config, items):
    chosen = {}
    for item in items:
        function = _function(item)
        if function not in chosen or _order(item.nodeid) < _order(chosen[function].nodeid):
            chosen[function] = item
    first = {item.nodeid for item in chosen.values()}
    kept, left_out = [], []
    for item in items:
        here = not _is_elsewhere(item) and (item.nodeid in first or _has_own(item))
        (kept if here else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _function(item):
    return item.nodeid.partition("[")[0]


def _is_elsewhere(item):
    """Whether another place runs this test."""
    share = os.environ.get("SHARE")
    if not share:
        return False
    if not item.get_closest_marker("once"):
        return os.environ.get("DATABASE_URL", "").startswith("sqlite")
    number, places = map(int, share.split("/"))
    return crc32(_function(item).encode()) % places != number - 1


def _has_own(item):
    """Whether each case of the test is a statement or a race of its own."""
    return item.path.parent.name in _FOLDERS or item.path.name in _FILES


def _order(name):
    """The same in each run and for each worker, and another one for each place."""
    return crc32("|".join([*_PLACE, name]).encode())
