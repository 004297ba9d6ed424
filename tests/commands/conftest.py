from io import StringIO

import pytest
from django.core.management import call_command

from authservice.key_file import load
from tests.support.slots import Listener


@pytest.fixture
def run():
    """`run("authservice_cleanup", "--dry-run")` returns the output of the command."""

    def run(*arguments):
        out = StringIO()
        call_command(*arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    return run


@pytest.fixture
def recorded(monkeypatch):
    """`recorded(action)` lists the events with that action that the listeners received."""
    events = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(events.append),))
    return lambda action: [event for event in events if event.action == action]


@pytest.fixture
def file(tmp_path):
    """The path of the key file of this test."""
    return tmp_path / "keys.json"


@pytest.fixture
def keys(run, file):
    """`keys("rotate", "--force")` runs the command on the key file of this test."""
    return lambda step, *options: run("authservice_keys", step, "--file", str(file), *options)


@pytest.fixture
def restart(configure, file):
    """Call it to read the key file again, as the settings do after a restart."""
    return lambda: configure(SIGNING_KEYS=load(file))
