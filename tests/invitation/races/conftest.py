import pytest

from tests.invitation.conftest import APPS
from tests.invitation.invites import Invites
from tests.races.conftest import (
    _no_floods,
    api,
    crowd,
    gathered,
    rounds,
)
from tests.support.mounted import mounted

__all__ = ["_no_floods", "api", "crowd", "gathered", "rounds"]


@pytest.fixture(autouse=True, scope="module")
def _invitations():
    """One login module: the locks are those of core."""
    with mounted(*APPS, login="session"):
        yield


@pytest.fixture
def sender(api, post):
    """`sender(number)`: a new user who sends invitations."""

    def sender(number, name="ann"):
        signed_up = api.sign_up(f"{name}{number}@example.com")
        return Invites(api, post, signed_up["access_token"])

    return sender
