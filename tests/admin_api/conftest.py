from collections.abc import Iterator

import pytest

from authservice.kernel import modules
from tests.admin_api.people import ANN, PHONE, ROOT, Admin, Committing
from tests.recovery.post import Post, office


@pytest.fixture
def api():
    return Committing()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """Who takes the jobs."""
    office.jobs.clear()
    with modules.plugged("messenger", office):
        yield office


@pytest.fixture
def root(api, post) -> Admin:
    """The one super admin."""
    admin = Admin(api, ROOT)
    post.jobs.clear()
    return admin


@pytest.fixture
def ann(api, root, post):
    """`data` of somebody's sign-up; nobody has proven anything."""
    signed_up = api.sign_up(ANN, username="ann", phone_number=PHONE)
    post.jobs.clear()
    return signed_up


@pytest.fixture
def ann_id(ann) -> str:
    return ann["user"]["id"]


@pytest.fixture
def told(monkeypatch):
    """`told()` lists the events that a listener has heard since the last time."""
    heard = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (heard.append,))

    def since():
        events = heard[:]
        heard.clear()
        return events

    return since
