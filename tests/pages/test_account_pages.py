"""Runs the tests of the account pages in hosts with different modules, each in its own process."""

import pytest

from tests.hosts.runs import SQLITE, holds

PAGES = ("tests/pages/inside", "--ds=tests.pages.settings")
# And with the csrf module.
OTHER = {"PAGES_LOGIN": "session", "PAGES_CSRF": "1"}
MISSING = "organization audit magiclink twofactor oauth passkeys"


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not those of the other tests of this folder: the hosts have their own."""


def test_account_pages_with_access_tokens_that_expire():
    holds(*PAGES, sample=True)


def test_account_pages_with_sessions_that_users_see():
    holds(*PAGES, sample=True, **OTHER)


def test_account_pages_without_other_modules():
    holds("tests/pages/inside/test_missing_modules.py", PAGES[1], PAGES_WITHOUT=MISSING)


@pytest.mark.slow
def test_every_case_of_account_pages_with_access_tokens_that_expire():
    holds(*PAGES, **SQLITE)


@pytest.mark.slow
def test_every_case_of_account_pages_with_sessions_that_users_see():
    holds(*PAGES, **OTHER)


@pytest.mark.slow
def test_account_pages_in_a_browser():
    file = "tests/pages/inside/test_account_in_browser.py"
    holds("-m", "slow", file, PAGES[1], **SQLITE)
