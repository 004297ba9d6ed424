from collections.abc import Iterator

import pytest

from tests.admin_api.people import ANN, PHONE, ROOT, Admin
from tests.support.flows import CommittingApi
from tests.support.messenger.post import Post, receiving_jobs
from tests.support.slots import Listener


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """The messenger that keeps the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def root(api, post) -> Admin:
    """The only super admin."""
    admin = Admin(api, ROOT)
    post.jobs.clear()
    return admin


@pytest.fixture
def ann(api, root, post):
    """`data` of the sign-up of Ann, whose address and number are unverified."""
    signed_up = api.sign_up(ANN, username="ann", phone_number=PHONE)
    post.jobs.clear()
    return signed_up


@pytest.fixture
def ann_id(ann) -> str:
    return ann["user"]["id"]


@pytest.fixture
def recorded(monkeypatch):
    """`recorded()` lists the events that a listener has received since the last call."""
    received = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(received.append),)
    )

    def since():
        events = received[:]
        received.clear()
        return events

    return since
