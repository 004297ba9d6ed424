import pytest

from tests.invitation.invites import Invites
from tests.support.flows import CommittingApi, prove
from tests.support.messenger.post import Post, office
from tests.support.mounted import mounted

# The last messenger wins: the notification module only renders.
APPS = (
    "authservice.invitation",
    "authservice.notification",
    "tests.support.messenger.apps.PostOffice",
)


# These answer invitations, which begins or continues a session. Sending and listing them is alike
# in both login modules: core authenticates the caller.
IN_BOTH = {
    *("test_accept_as_new", "test_accept_with_account", "test_own_session", "test_token_cookies"),
    *("test_answers", "test_closed_signup", "test_costs", "test_recovery"),
}


def pytest_generate_tests(metafunc):
    name = metafunc.module.__name__.removeprefix("tests.invitation.")
    if name in IN_BOTH:
        modules = ["stateless", "session"]
        metafunc.parametrize("_invitations", modules, indirect=True, scope="module")


@pytest.fixture(autouse=True, scope="module")
def _invitations(request):
    with mounted(*APPS, login=getattr(request, "param", "session")):
        yield


@pytest.fixture(autouse=True)
def post() -> Post:
    """The test messenger, which keeps the queued jobs."""
    office.jobs.clear()
    return office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def invitation(configure):
    """`invitation(TTL=60)` sets keys of the INVITATION section."""

    def change(**keys):
        configure(INVITATION=keys)

    return change


@pytest.fixture
def no_floods(configure):
    """Disables the limits on mails and invitations."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def ann(api, post):
    """Ann, who sends invitations, signed up and verified her address; her tokens and her user."""
    signed_up = api.sign_up()
    prove()
    post.jobs.clear()
    return signed_up


@pytest.fixture
def invites(api, post, ann) -> Invites:
    return Invites(api, post, ann["access_token"])


@pytest.fixture
def bob(api, post, ann):
    """Bob has an account, and proved his address."""
    signed_up = api.sign_up("bob@example.com")
    prove("bob@example.com")
    post.jobs.clear()
    return signed_up
