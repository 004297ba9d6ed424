import pytest

from tests.core.login_matrix.world import MODULES, World
from tests.oauth.in_process import SETTINGS
from tests.oauth.in_process import office as office_of_acme
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.twofactor.people import Person


@pytest.fixture(params=["stateless", "session"], autouse=True, scope="module")
def _everything(request):
    """Installs every module, with each of the login modules."""
    with mounted(*MODULES, login=request.param):
        yield


@pytest.fixture
def world(_everything, db, clock, configure) -> World:
    """A user with a verified address, and everything that can be used to log in."""
    office_of_acme.reset()
    form = {**SETTINGS, "FORM_POST": True}
    configure(COOKIES={"ENABLED": True}, OAUTH={"PROVIDERS": {"acme": SETTINGS, "acme-form": form}})
    office.jobs.clear()
    api = CommittingApi()
    return World(api, office, clock, configure, Person(api))
