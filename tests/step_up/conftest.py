import pytest

from tests.twofactor.people import Person


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the clock, so codes change only when a test moves it."""


@pytest.fixture
def ann(api) -> Person:
    """A user with a password only, who signed up a moment ago."""
    return Person(api).sign_up()


@pytest.fixture
def enrolled(ann, clock) -> Person:
    """A user whose session signed in with the password and a code a moment ago."""
    ann.enrol()
    clock.forward(seconds=30)
    ann.token = ann.verify_login(ann.code()).data["access_token"]
    clock.forward(seconds=30)
    return ann
