"""Sessions of a browser that keeps its tokens in cookies."""

import pytest

from authservice.core.models import Session
from tests.csrf.conftest import _csrf, ann, visitor, with_cookies  # noqa: F401
from tests.csrf.visitor import ACCESS, REFRESH

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(ann, api):  # noqa: F811
    """The id of another session of Ann."""
    api.log_in()
    return Session.objects.latest("created_at").pk


def kept(browser):
    return [bool(browser.cookie(name)) for name in (ACCESS, REFRESH)]


def test_the_one_of_the_cookie_is_current(ann, other):  # noqa: F811
    current = [session["current"] for session in ann.get("sessions").data]

    assert current == [False, True]


def test_who_ends_the_own_session_keeps_no_cookies(ann):  # noqa: F811
    own = Session.objects.get().pk

    assert ann.ask("DELETE", f"sessions/{own}").status == 200
    assert kept(ann) == [False, False]


def test_who_ends_another_session_keeps_them(ann, other):  # noqa: F811
    assert ann.ask("DELETE", f"sessions/{other}").status == 200
    assert ann.ask("DELETE", "sessions").status == 200
    assert kept(ann) == [True, True]


def test_nothing_is_ended_without_the_pair(ann, other):  # noqa: F811
    ann.token = ""

    assert ann.ask("DELETE", f"sessions/{other}").error == (403, "INVALID_CSRF")
    assert ann.ask("DELETE", "sessions").error == (403, "INVALID_CSRF")
    assert Session.objects.filter(ended_at=None).count() == 2
