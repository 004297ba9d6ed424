import pytest

from tests.admin_api.people import ANN, PHONE, ROOT, Admin, Committing
from tests.recovery.post import Post, office


@pytest.fixture
def api():
    return Committing()


@pytest.fixture(autouse=True)
def post(settings) -> Post:
    """Who takes the jobs."""
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.recovery.apps.PostOffice"]
    office.jobs.clear()
    return office


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
