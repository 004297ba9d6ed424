import pytest

from tests.doors.world import MODULES, World
from tests.mounted import mounted
from tests.recovery.flows import CommittingApi
from tests.recovery.post import office
from tests.twofactor.people import Person


@pytest.fixture(params=["stateless", "session"], autouse=True, scope="module")
def _everything(request):
    """Every module, under either login module."""
    with mounted(*MODULES, login=request.param):
        yield


@pytest.fixture
def world(_everything, db, clock, configure) -> World:
    """Ann, who has proven her address, and everything she may sign in with."""
    configure(COOKIES={"ENABLED": True})
    office.jobs.clear()
    api = CommittingApi()
    return World(api, office, clock, configure, Person(api))
