import pytest

from tests.magiclink.magic import Magic
from tests.mounted import mounted
from tests.recovery.flows import CommittingApi, prove
from tests.recovery.post import Post, office

APPS = ("authservice.magiclink", "tests.recovery.apps.PostOffice")


@pytest.fixture(autouse=True, scope="module")
def _magic_links():
    with mounted(*APPS):
        yield


@pytest.fixture(autouse=True)
def post() -> Post:
    """Who takes the jobs."""
    office.jobs.clear()
    office.can_sms = True
    return office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def magic(api, post) -> Magic:
    return Magic(api, post)


@pytest.fixture
def magiclink(configure):
    """`magiclink(TTL=60)` sets keys of the MAGICLINK section."""

    def change(**keys):
        configure(MAGICLINK=keys)

    return change


@pytest.fixture
def no_floods(configure):
    """As many letters as a test asks for."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def ann(api, post):
    """Ann, who signed up with a password and has proven her address; her tokens."""
    signed_up = api.sign_up()
    prove()
    post.jobs.clear()
    return signed_up
