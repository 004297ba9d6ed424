from collections.abc import Iterator

import pytest

from authservice.kernel import modules
from tests.recovery.flows import PHONE, CommittingApi, Flows, prove
from tests.recovery.post import Post, office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """Who takes the jobs."""
    office.jobs.clear()
    office.can_sms = True
    with modules.plugged("messenger", office):
        yield office


@pytest.fixture
def flows(api, post) -> Flows:
    return Flows(api, post)


@pytest.fixture
def no_floods(configure):
    """As many letters as a test asks for."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def ann(api, post):
    """A newcomer with an address and a number that nobody has proven; her tokens."""
    signed_up = api.sign_up(phone_number=PHONE)
    post.jobs.clear()
    return signed_up


@pytest.fixture
def proven(ann):
    """The same, with both proven."""
    prove(phone=PHONE)
    return ann
