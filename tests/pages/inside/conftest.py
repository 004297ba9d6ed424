import os

import pytest
from django.apps import apps

from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.mounted import mounted

LEFT_OUT = os.environ.get("PAGES_WITHOUT")
# `tests/pages/test_account_pages.py` runs these tests in hosts that have what they require.
collect_ignore_glob = [] if apps.is_installed("authservice.audit") or LEFT_OUT else ["test_*.py"]
collect_ignore = [] if apps.is_installed("authservice.session") else ["test_sessions.py"]


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """The forms have Django's token, and need no other: `PAGES_CSRF` installs the csrf module."""
    with mounted(*(["authservice.csrf"] if os.environ.get("PAGES_CSRF") else [])):
        yield


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def signed_in(person, ann):
    """Ann's browser, signed in."""
    person.enter(ANN, PASSWORD)
    return person


@pytest.fixture
def token_cookies(configure):
    """Token cookies are accepted. `mounted` comes last, because it restores the settings."""
    configure(COOKIES={"ENABLED": True})
    with mounted("authservice.csrf"):
        yield


def kept(person):
    """The names of the cookies that the browser of this person has."""
    return {name for name, cookie in person.client.cookies.items() if cookie.value}
