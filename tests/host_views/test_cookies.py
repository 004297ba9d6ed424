"""Views of the host project with token cookies: a change needs the CSRF pair."""

import pytest

from tests.csrf.installed import installed
from tests.csrf.visitor import Visitor

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
REFUSED = (403, "INVALID_CSRF")


@pytest.fixture(autouse=True, scope="module")
def _csrf():
    with installed():
        yield


@pytest.fixture
def visitor(configure, middleware):
    """A browser that is logged in by cookies and has the CSRF token of its session."""
    configure(COOKIES={"ENABLED": True})
    middleware()
    visitor = Visitor()
    visitor.fetch_token()
    visitor.sign_up(EMAIL)
    visitor.fetch_token()
    return visitor


@pytest.mark.parametrize("path", ["/plain", "/later", "/mine", "/mine-later", "/notes"])
def test_cookie_names_the_user(visitor, path):
    assert visitor.get(path).body["email"] == EMAIL


@pytest.mark.parametrize("path", ["/plain", "/later", "/mine", "/mine-later"])
def test_change_with_the_pair_names_the_user(visitor, path):
    assert visitor.post(path).body["email"] == EMAIL


@pytest.mark.parametrize("path", ["/plain", "/later"])
def test_change_without_the_pair_is_anonymous(visitor, path):
    visitor.token = ""

    assert visitor.post(path).body["email"] == ""


@pytest.mark.parametrize("path", ["/mine", "/mine-later", "/page"])
def test_decorated_view_refuses_a_change_without_the_pair(visitor, path):
    visitor.token = ""

    assert visitor.post(path).error == REFUSED


def test_rest_view_refuses_a_change_without_the_pair_with_its_code(visitor):
    visitor.token = ""
    answer = visitor.post("/notes", {"text": "hi"})

    assert (answer.status, answer.body["code"]) == REFUSED
