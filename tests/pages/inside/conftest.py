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


@pytest.fixture(autouse=True, scope="module", params=["plain", "csrf"])
def _pages(request):
    """Both with and without the csrf module: the forms have Django's token, and need no other."""
    with mounted(*(["authservice.csrf"] if request.param == "csrf" else [])):
        yield


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def signed_in(person, ann):
    """Ann's browser, signed in."""
    person.sign_in(ANN, PASSWORD)
    assert person.name
    return person
