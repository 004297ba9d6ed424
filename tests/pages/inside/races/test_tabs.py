"""The tabs of one browser send requests at once, with one cookie of Django's session."""

from datetime import timedelta
from functools import partial

import pytest
import time_machine
from django.utils import timezone

from authservice.core.models import Session
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.mounted import mounted

TABS, ROUNDS = 10, 4
ENGINES = ("signed_cookies", "cache")
PATHS = ("/whoami", "/orders", "/auth/account/security")


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Once: a visit is the same with the csrf module."""
    with mounted():
        yield


def tab_of(person):
    """A tab with the cookies that the browser has now."""
    tab = Person()
    tab.client.cookies = person.client.cookies.copy()
    return tab


@pytest.fixture
def browser(settings, request, crowd, api):
    settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{request.param}"
    api.sign_up()
    person = Person()
    person.sign_in(ANN, PASSWORD, remember="on")
    return person


@pytest.mark.parametrize("browser", ENGINES, indirect=True)
def test_tabs_that_load_at_once_stay_signed_in(browser, crowd):
    """Each of them would move the idle timeout of the session, which was last used a day ago."""
    login = tab_of(browser)
    with time_machine.travel(timezone.now(), tick=True) as clock:
        for _ in range(ROUNDS):
            clock.shift(timedelta(days=1))
            tabs = [tab_of(login) for _ in range(TABS)]
            paths = [PATHS[place % len(PATHS)] for place in range(TABS)]

            pages = crowd.race(
                partial(tab.visit, path) for tab, path in zip(tabs, paths, strict=True)
            )

            assert [page.status for page in pages] == [200] * TABS
            users = [page.html for page in pages if page.url == "/whoami"]
            assert users == ["ann"] * 4
            row = Session.objects.get(method="password", ended_at=None)
            assert timezone.now() - row.last_used_at < timedelta(minutes=1)
            # Old claims were replaced; the cookie of the login and those of all tabs are valid.
            assert {tab.name for tab in (tab_of(login), *tabs)} == {"ann"}


@pytest.mark.parametrize("browser", ENGINES, indirect=True)
def test_forms_of_tabs_that_are_sent_at_once_are_all_accepted(browser, crowd):
    page = browser.open("/auth/account/profile/name")
    for number in range(ROUNDS):
        tabs = [tab_of(browser) for _ in range(TABS)]
        names = [f"Ann {number}.{place}" for place in range(TABS)]

        sent = crowd.race(
            partial(tab.post, page, name=name) for tab, name in zip(tabs, names, strict=True)
        )

        assert [answer.status for answer in sent] == [303] * TABS
        assert browser.name == "ann"
