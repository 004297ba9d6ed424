import pytest

from tests.twofactor.people import Person


@pytest.fixture(autouse=True)
def _still(clock):
    """Codes change when a test says so, and not while it runs."""


@pytest.fixture
def ann(api) -> Person:
    """Somebody without a second factor."""
    return Person(api).sign_up()


@pytest.fixture
def enrolled(ann, clock) -> Person:
    """Somebody with one, whose app has moved on to the next code."""
    ann.enrol()
    clock.forward(seconds=30)
    return ann


@pytest.fixture
def told(monkeypatch):
    """`told()` lists the events that a listener has heard, those of sign-ins at large left out."""
    heard = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (heard.append,))

    def named(prefix="auth.2fa."):
        return [event for event in heard if event.action.startswith(prefix)]

    return named
