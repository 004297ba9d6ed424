from collections.abc import Iterator

import pytest

from tests.support.flows import PHONE, CommittingApi, Flows, prove
from tests.support.messenger.post import Post, receiving_jobs


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """The messenger that takes the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def flows(api, post) -> Flows:
    return Flows(api, post)


@pytest.fixture
def no_floods(configure):
    """No limit on the messages of a test."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def ann(api, post):
    """A new user with an address and a number that are not verified; her tokens."""
    signed_up = api.sign_up(phone_number=PHONE)
    post.jobs.clear()
    return signed_up


@pytest.fixture
def proven(ann):
    """The same, with both proven."""
    prove(phone=PHONE)
    return ann
