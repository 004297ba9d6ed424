"""The way of a request through the code, counted: files and calls of authservice."""

import subprocess
import sys

import pytest

from tests import trace

# A number that falls is lowered here; one that rises needs a reason. A version of Django may differ
# by a call.
MOST = {
    "GET /me": (20, 95),
    "login with a second factor": (37, 479),
    # Also asks who is signed in in the browser, who would lose nothing by the first proof.
    "callback of a returning user": (38, 305),
    "invitation to an organization": (33, 234),
    "PUT /admin/users/{id}": (30, 305),
}
pytestmark = pytest.mark.once


def test_requests_take_at_most_so_many_files_and_calls():
    command = [sys.executable, "-m", "tests.trace"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    figures = {}
    for line in lines:
        counts, name = line.split(": ", 1)
        files, _, calls, _ = counts.split()
        figures[name] = (int(files), int(calls))

    assert figures.keys() == MOST.keys() == trace.REQUESTS.keys()
    longer = {
        name: (files, calls)
        for name, (files, calls) in figures.items()
        if files > MOST[name][0] or calls > MOST[name][1]
    }
    assert longer == {}
