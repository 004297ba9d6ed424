"""The crowd of `tests/races`; each request commits, so no job waits for the end of the test."""

import pytest

from tests.organization.inside.people import Person
from tests.races.conftest import _no_floods, api, crowd, gathered  # noqa: F401
from tests.races.crowd import asked_rounds
from tests.support.messenger.post import office


@pytest.fixture(autouse=True)
def post():
    office.jobs.clear()
    return office


@pytest.fixture
def people(api):  # noqa: F811
    """`people("ann", 2)` are new users with this name and number."""

    def sign_up(name, number=0):
        return Person(api, f"{name}{number}")

    return sign_up


@pytest.fixture
def rounds() -> range:
    return asked_rounds(5)


@pytest.fixture
def crowds() -> range:
    """The rounds of a race whose one round takes as long as five of the others."""
    return asked_rounds(1)
