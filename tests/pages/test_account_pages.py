"""Runs the tests of the account pages in hosts with different modules, each in its own process."""

import pytest

from tests.hosts.runs import SQLITE, holds

INSIDE = "tests/pages/inside"
SETTINGS = "--ds=tests.pages.settings"
PAGES = (INSIDE, SETTINGS)
BROWSER = f"{INSIDE}/test_account_in_browser.py"
# And with the csrf module.
OTHER = {"PAGES_LOGIN": "session", "PAGES_CSRF": "1"}
MISSING = "organization audit magiclink twofactor oauth passkeys"


# The login module is asked when a session begins, in each request, and when one ends. With sessions
# that users see, the quick suite runs the files about that, and the test that finds every form,
# since the module adds some. The other files do the same as in the first host, where all run.
OF_SESSIONS = (
    *("test_attacks.py", "test_deleted_sessions.py", "test_sessions.py", "test_sign_in.py"),
    "test_signed_in.py",
    "test_forged_forms.py::test_every_page_is_in_one_of_the_lists",
)


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not those of the other tests of this folder: the hosts have their own."""


def test_account_pages_with_access_tokens_that_expire():
    # All tests of the ignored file are slow, and it imports Selenium.
    holds(*PAGES, f"--ignore={BROWSER}", sample=True, migrate=False)


def test_account_pages_with_sessions_that_users_see():
    files = [f"{INSIDE}/{name}" for name in OF_SESSIONS]
    holds(*files, SETTINGS, sample=True, migrate=False, **OTHER)


def test_account_pages_without_other_modules():
    file = f"{INSIDE}/test_missing_modules.py"
    holds(file, SETTINGS, migrate=False, PAGES_WITHOUT=MISSING)


@pytest.mark.slow
def test_every_case_of_account_pages_with_access_tokens_that_expire():
    holds(*PAGES, **SQLITE)


@pytest.mark.slow
def test_every_case_of_account_pages_with_sessions_that_users_see():
    holds(*PAGES, **OTHER)


@pytest.mark.slow
def test_account_pages_in_a_browser():
    holds("-m", "slow", BROWSER, SETTINGS, **SQLITE)
