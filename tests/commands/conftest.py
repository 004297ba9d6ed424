from io import StringIO

import pytest
from django.core.management import call_command

from authservice.key_file import load


@pytest.fixture
def run():
    """`run("authservice_cleanup", "--dry-run")` gives what the command printed."""

    def run(*arguments):
        out = StringIO()
        call_command(*arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    return run


@pytest.fixture
def told(monkeypatch):
    """`told(action)` lists the events of that name which a listener has heard."""
    heard = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (heard.append,))
    return lambda action: [event for event in heard if event.action == action]


@pytest.fixture
def file(tmp_path):
    """Where the keys of this test are kept."""
    return tmp_path / "keys.json"


@pytest.fixture
def keys(run, file):
    """`keys("rotate", "--force")` on the file of this test."""
    return lambda step, *options: run("authservice_keys", step, "--file", str(file), *options)


@pytest.fixture
def restart(configure, file):
    """What a restart of the processes does: settings read the file again."""
    return lambda: configure(SIGNING_KEYS=load(file))
