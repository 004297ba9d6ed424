from io import StringIO

import pytest
from django.core.management import call_command


@pytest.fixture
def run():
    """`run("authservice_sweep", "--dry-run")` gives what the command printed."""

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
