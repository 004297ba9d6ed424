import pytest

from tests.csrf.installed import installed
from tests.csrf.visitor import Visitor


@pytest.fixture(autouse=True, scope="module")
def _csrf():
    with installed():
        yield


@pytest.fixture
def visitor() -> Visitor:
    """A browser that has fetched a CSRF token."""
    visitor = Visitor()
    visitor.fetch_token()
    return visitor


@pytest.fixture
def with_cookies(configure):
    """The host enables tokens in cookies."""
    configure(COOKIES={"ENABLED": True})


@pytest.fixture
def ann(with_cookies) -> Visitor:
    """A browser that is logged in by cookies and has the CSRF token of its session."""
    visitor = Visitor()
    visitor.fetch_token()
    visitor.sign_up()
    visitor.fetch_token()
    return visitor
