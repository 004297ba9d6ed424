import pytest

from tests.support.flows import CommittingApi, Flows
from tests.support.messenger.post import office


@pytest.fixture
def api():
    return CommittingApi(raising=False)


@pytest.fixture(autouse=True)
def post():
    office.jobs.clear()
    office.can_sms = True
    return office


@pytest.fixture
def flows(api, post):
    return Flows(api, post)
