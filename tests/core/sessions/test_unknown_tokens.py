"""Unknown tokens are not recorded in the log, and are limited per network."""

import pytest

from tests.support.flows import NEW
from tests.support.mounted import mounted
from tests.support.slots import listening

pytestmark = pytest.mark.django_db

NONSENSE = "A" * 43
RATE_LIMITED = (429, "TOO_MANY_REQUESTS")
ROUTES = {
    "reset-password": {"token": NONSENSE, "email": "ann@example.com", "new_password": NEW},
    "magic-link/verify": {"token": NONSENSE},
    "2fa/verify-login": {"temp_token": NONSENSE, "code": "123456"},
    "2fa/setup-login": {"temp_token": NONSENSE},
}


@pytest.fixture(autouse=True, scope="module")
def _modules():
    with mounted("authservice.magiclink", "authservice.twofactor"):
        yield


@pytest.fixture
def entries():
    """The events that listeners such as the log receive."""
    received = []
    with listening(received.append):
        yield received


@pytest.mark.parametrize("path", ROUTES)
def test_unknown_token_is_not_recorded_and_limited_per_network(api, clock, entries, path):
    answers = [api.request("POST", path, ROUTES[path]) for _ in range(200)]

    assert entries == []
    assert [answer.error for answer in answers[100:]] == [RATE_LIMITED] * 100
    assert {answer.status for answer in answers[:100]} <= {400, 401}
