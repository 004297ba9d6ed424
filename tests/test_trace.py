"""The way of a request through the code, counted: files and calls of authservice."""

import pytest

from tests import trace

# A number that falls is lowered here; one that rises needs a reason.
MOST = {
    "GET /me": (26, 108),
    # The user is read again under the lock of their row, and `identity` looks for Django's session.
    # The challenge names the factors of all modules that answer it: three more files.
    # The calls depend on the database and the version of Django.
    "login with a second factor": (52, 680),
}
pytestmark = [pytest.mark.django_db, pytest.mark.once]


def test_requests_take_at_most_so_many_files_and_calls():
    longer = {}
    for name, request in trace.requests().items():
        calls = trace.warm(request)
        if len(calls) > MOST[name][0] or calls.total() > MOST[name][1]:
            longer[name] = (len(calls), calls.total())

    assert longer == {}
