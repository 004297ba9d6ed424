import pytest

from tests.support.slots import Listener
from tests.twofactor.people import Person


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the clock, so codes change only when a test moves it."""


@pytest.fixture
def ann(api) -> Person:
    """A user without a second factor."""
    return Person(api).sign_up()


@pytest.fixture
def enrolled(ann, clock) -> Person:
    """A user with a second factor, whose app shows the next unused code."""
    ann.enrol()
    clock.forward(seconds=30)
    return ann


@pytest.fixture
def events(monkeypatch):
    """`events()` lists the recorded events of 2FA; `events(prefix)` those with another prefix."""
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),)
    )

    def named(prefix="auth.2fa."):
        return [event for event in recorded if event.action.startswith(prefix)]

    return named
