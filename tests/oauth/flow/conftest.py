import pytest

from tests.oauth.browsing import Browser
from tests.oauth.in_process import SETTINGS, office
from tests.support.flows import CommittingApi, Flows, prove
from tests.support.messenger.post import Post
from tests.support.messenger.post import office as post_office
from tests.support.mounted import mounted

APPS = ("tests.support.messenger.apps.PostOffice",)


@pytest.fixture(autouse=True, scope="module")
def _messenger():
    with mounted(*APPS):
        yield


@pytest.fixture(autouse=True)
def _provider(settings):
    office.reset()
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "OAUTH": {"PROVIDERS": {"acme": SETTINGS}}}


@pytest.fixture
def oauth(settings):
    """`oauth(ALLOW_SIGNUP=False)` sets keys of the OAUTH section."""

    def change(**keys):
        section = {**settings.AUTHSERVICE["OAUTH"], **keys}
        settings.AUTHSERVICE = {**settings.AUTHSERVICE, "OAUTH": section}

    return change


@pytest.fixture
def providers(oauth):
    """`providers(acme={"ENABLED": False})` sets the providers; each is the one in this process."""

    def change(**changes):
        oauth(PROVIDERS={name: {**SETTINGS, **keys} for name, keys in changes.items()})

    return change


@pytest.fixture(autouse=True)
def post() -> Post:
    """The test messenger, which keeps the queued jobs."""
    post_office.jobs.clear()
    post_office.can_sms = True
    return post_office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def flows(api, post) -> Flows:
    return Flows(api, post)


@pytest.fixture
def browser(api) -> Browser:
    return Browser(api)


@pytest.fixture
def other_browser(api) -> Browser:
    return Browser(api)


@pytest.fixture
def ann(api, post):
    """Ann signed up with a password and verified her address; the fixture is her tokens."""
    signed_up = api.sign_up()
    prove()
    post.jobs.clear()
    return signed_up
