"""A process killed during a request stores both the action and its audit entry, or neither."""

import json
import signal

import pytest

from tests.hosts.runs import python
from tests.hosts.servers import own_database

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.benchmarks.audit_settings"}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """By the moment at which a process was killed: the signal, and the accounts and actions in the
    database afterwards."""
    with own_database("killed", tmp_path_factory.mktemp("killed")) as url:
        run = python("-m", "tests.audit.killed", DATABASE_URL=url, **SETTINGS)
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("moment", "accounts", "actions"),
    [("after", ["ann@example.com"], ["auth.signup"]), ("before", [], [])],
)
def test_killed_process_stores_action_and_entry_or_neither(found, moment, accounts, actions):
    assert found[moment] == [signal.SIGKILL, accounts, actions]
