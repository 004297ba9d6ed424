import pytest

from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN, CommittingApi, Flows
from tests.support.messenger.post import Post, office
from tests.support.mounted import mounted


@pytest.fixture(autouse=True, scope="module", params=["plain", "csrf"])
def _pages(request):
    """Both with and without the csrf module: the forms have Django's token, and need no other."""
    with mounted(*(["authservice.csrf"] if request.param == "csrf" else [])):
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
def person() -> Person:
    return Person()


@pytest.fixture
def ann(api, post):
    """Ann, who has an account; her tokens."""
    signed_up = api.sign_up()
    post.jobs.clear()
    return signed_up


@pytest.fixture
def signed_in(person, ann):
    """Ann's browser, signed in."""
    person.sign_in(ANN, PASSWORD)
    assert person.name
    return person
