import pytest

from tests.compat.inside.old import OURS, THEIRS, OldClient
from tests.support.people import make_user


@pytest.fixture
def ann(db):
    """A user whom the project created before it installed this service."""
    return make_user()


@pytest.fixture
def client() -> OldClient:
    """A client of simplejwt at our routes."""
    return OldClient(OURS)


@pytest.fixture
def before() -> OldClient:
    """The same client at the routes of simplejwt itself."""
    return OldClient(THEIRS)


@pytest.fixture
def tokens(ann, client):
    """The answer to a login at our routes."""
    answer = client.obtain()
    assert answer.status == 200, answer.body
    return answer.body
