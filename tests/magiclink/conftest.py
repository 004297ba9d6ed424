import pytest

from tests.magiclink.magic import Magic
from tests.support.flows import CommittingApi, prove
from tests.support.messenger.post import Post, office
from tests.support.mounted import mounted

APPS = ("authservice.magiclink", "tests.support.messenger.apps.PostOffice")


@pytest.fixture(autouse=True, scope="module")
def _magic_links():
    with mounted(*APPS):
        yield


@pytest.fixture(autouse=True)
def post() -> Post:
    """The test messenger, which keeps the queued jobs."""
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
    """Disables the rate limits, so that a test can request any number of e-mails."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def ann(api, post):
    """Ann signed up with a password and verified her address; the fixture is her tokens."""
    signed_up = api.sign_up()
    prove()
    post.jobs.clear()
    return signed_up
