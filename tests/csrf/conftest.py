import pytest

from tests.csrf.installed import installed
from tests.csrf.visitor import Visitor


@pytest.fixture(autouse=True, scope="module")
def _csrf():
    with installed():
        yield


@pytest.fixture
def visitor() -> Visitor:
    """Somebody who has fetched a token."""
    visitor = Visitor()
    visitor.fetch_token()
    return visitor


@pytest.fixture
def with_cookies(configure):
    """The host keeps tokens in cookies too."""
    configure(COOKIES={"ENABLED": True})


@pytest.fixture
def ann(with_cookies) -> Visitor:
    """Signed in by cookies, with a token for this sign-in."""
    visitor = Visitor()
    visitor.fetch_token()
    visitor.sign_up()
    visitor.fetch_token()
    return visitor
