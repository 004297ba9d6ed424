"""Sessions of a browser with token cookies."""

import pytest

from authservice.core.models import Session
from tests.csrf.conftest import _csrf, ann, visitor, with_cookies  # noqa: F401
from tests.csrf.visitor import ACCESS, REFRESH

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(ann, api):  # noqa: F811
    """The id of another session of the same user."""
    api.log_in()
    return Session.objects.latest("created_at").pk


def token_cookies(browser):
    """Whether the browser has the access and the refresh cookie."""
    return [bool(browser.cookie(name)) for name in (ACCESS, REFRESH)]


def test_session_of_the_cookie_is_the_current_one(ann, other):  # noqa: F811
    current = [session["current"] for session in ann.get("sessions").data]

    assert current == [False, True]


def test_revoking_the_own_session_deletes_the_cookies(ann):  # noqa: F811
    own = Session.objects.get().pk

    assert ann.ask("DELETE", f"sessions/{own}").status == 200
    assert token_cookies(ann) == [False, False]


def test_revoking_another_session_keeps_the_cookies(ann, other):  # noqa: F811
    assert ann.ask("DELETE", f"sessions/{other}").status == 200
    assert ann.ask("DELETE", "sessions").status == 200
    assert token_cookies(ann) == [True, True]


def test_revoking_sessions_without_the_csrf_pair_is_refused(ann, other):  # noqa: F811
    ann.token = ""

    assert ann.ask("DELETE", f"sessions/{other}").error == (403, "INVALID_CSRF")
    assert ann.ask("DELETE", "sessions").error == (403, "INVALID_CSRF")
    assert Session.objects.filter(ended_at=None).count() == 2
