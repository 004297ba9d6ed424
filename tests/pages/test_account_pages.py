"""Runs the tests of the account pages in hosts with different modules, each in its own process."""

import pytest

from tests.hosts.runs import SQLITE, holds

INSIDE = "tests/pages/inside"
SETTINGS = "--ds=tests.pages.settings"
PAGES = (INSIDE, SETTINGS)
# And with the csrf module.
OTHER = {"PAGES_LOGIN": "session", "PAGES_CSRF": "1"}
MISSING = "organization audit magiclink twofactor oauth passkeys"


# What depends on the login module: how a session begins, and what ends it. With sessions that users
# see, the quick suite runs these files; the others do the same as in the first host, where all run.
OF_SESSIONS = (
    *("attacks", "deleted_sessions", "first_proof", "forged_forms", "invitation_while_signed_in"),
    *("second_step", "sign_in", "signed_in"),
)


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not those of the other tests of this folder: the hosts have their own."""


def test_account_pages_with_access_tokens_that_expire():
    holds(*PAGES, sample=True)


def test_account_pages_with_sessions_that_users_see():
    files = [f"{INSIDE}/test_{name}.py" for name in OF_SESSIONS]
    holds(*files, SETTINGS, sample=True, **OTHER)


def test_account_pages_without_other_modules():
    holds(f"{INSIDE}/test_missing_modules.py", SETTINGS, PAGES_WITHOUT=MISSING)


@pytest.mark.slow
def test_every_case_of_account_pages_with_access_tokens_that_expire():
    holds(*PAGES, **SQLITE)


@pytest.mark.slow
def test_every_case_of_account_pages_with_sessions_that_users_see():
    holds(*PAGES, **OTHER)


@pytest.mark.slow
def test_account_pages_in_a_browser():
    holds("-m", "slow", f"{INSIDE}/test_account_in_browser.py", SETTINGS, **SQLITE)
