import pytest

from tests.core.login_matrix.world import MODULES, World
from tests.oauth.in_process import SETTINGS
from tests.oauth.in_process import office as office_of_acme
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.twofactor.people import Person

# With `session` the quick suite tries what reads or returns its tokens: each way to log in, if
# nothing changed meanwhile and if a second factor is due, and each secret in its own place. Whether
# tokens are due is decided before the login module is asked for them, so the rest of the matrix is
# the same with both, and slow with the second. The quick suite also runs the contract of all login
# modules with `session`, in `tests/session/test_contract.py`.
OF_SESSIONS = {
    "test_login_path_returns_tokens_only_where_they_are_due": ("nothing", "second_factor"),
    "test_secret_is_accepted_in_its_own_place": (),
    "test_login_matrix_contains_every_route_that_may_return_tokens": (),
    "test_first_login_after_a_signup_without_one_is_on_no_new_device": (),
    "test_second_login_is_on_a_new_device_without_last_login": (),
    "test_used_code_is_refused_in_another_spelling": (),
}


def pytest_itemcollected(item):
    params = item.callspec.params
    if params["_everything"] == "session":
        states = OF_SESSIONS.get(item.originalname)
        if states is None or (states and params["state"] not in states):
            item.add_marker(pytest.mark.slow)


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
