"""Requests that a reader sends from Swagger UI, in a real Chromium."""

import time

import pytest

from tests.csrf.installed import installed
from tests.support.browser import chromium, console_errors, needs_chromium
from tests.support.people import the_user

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.once,
    needs_chromium,
]

PATIENCE = 30  # seconds
# Each returns a false value until the page is ready for it.
STEPS = (
    "return document.querySelectorAll('.opblock').length > 10",
    "document.querySelector('[id$=signUp] .opblock-summary-control').click(); return true",
    "const it = document.querySelector('.try-out__btn'); it && it.click(); return it",
    "const it = document.querySelector('.execute'); it && it.click(); return it",
)
STATUS = (
    "return document.querySelector('.live-responses-table tbody .response-col_status')?.innerText"
)
SENT = "return document.querySelector('.curl-command')?.innerText"


@pytest.fixture
def browser(tmp_path):
    with chromium(tmp_path) as browser:
        yield browser


def until(browser, script):
    """The result of a script, once it has one."""
    end = time.monotonic() + PATIENCE
    while not (found := browser.execute_script(script)):
        assert time.monotonic() < end, (script, console_errors(browser))
        time.sleep(0.1)
    return found


def test_swagger_ui_sends_the_example_of_a_sign_up_with_a_csrf_token(browser, live_server):
    with installed():
        browser.get(f"{live_server.url}/auth/docs")
        for step in STEPS:
            until(browser, step)
        status, sent = until(browser, STATUS), until(browser, SENT)

    assert status.split()[0] == "201", sent
    assert "X-CSRF-Token" in sent
    assert the_user("ann@example.com")
    assert console_errors(browser) == []
