import pytest

from tests.pages.reader import Reader
from tests.support.flows import CommittingApi, Flows
from tests.support.messenger.post import Post, office
from tests.support.mounted import mounted

APPS = (
    "authservice.magiclink",
    "authservice.notification",
    "authservice.pages",
    "tests.support.messenger.apps.PostOffice",
)


@pytest.fixture(autouse=True, scope="module", params=["plain", "csrf"])
def _pages(request):
    """Both with and without the csrf module: the forms must not need its token."""
    guard = ["authservice.csrf"] if request.param == "csrf" else []
    with mounted(*APPS, *guard):
        yield


@pytest.fixture(autouse=True)
def post() -> Post:
    office.jobs.clear()
    return office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def flows(api, post) -> Flows:
    return Flows(api, post)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def ann(api, post):
    """Ann, who has an account; her tokens."""
    signed_up = api.sign_up()
    post.jobs.clear()
    return signed_up
