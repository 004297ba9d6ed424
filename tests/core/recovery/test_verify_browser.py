"""A mail scanner opens a verification link in a real Chromium; then the user clicks a button."""

from urllib.request import Request, urlopen

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.messages import kinds
from authservice.core.models import Session
from tests.support.browser import fetch, lent, needs_chromium, pages
from tests.support.client import PASSWORD
from tests.support.flows import ANN, account

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

FRONT = "<p>front end</p>"


@pytest.fixture(scope="module")
def browser(shared_chromium):
    with lent(shared_chromium) as browser:
        yield browser


@pytest.fixture
def front_end():
    with pages({"/verified": FRONT, "/": FRONT}, host="localhost") as origin:
        yield origin


@pytest.fixture
def service(browser, live_server, configure, front_end):
    url = live_server.url.replace("localhost", "127.0.0.1")
    frontend = {"URL": front_end, "VERIFY_EMAIL_CALLBACK_PATH": "/verified"}
    configure(API_URL=url, FRONTEND=frontend)
    browser.get(f"{url}/auth/nowhere")
    browser.delete_all_cookies()
    return url


@pytest.fixture
def link(service, post):
    """The link in Ann's e-mail after an attacker signed up with her address."""
    body = f'{{"email": "{ANN}", "password": "{PASSWORD}"}}'.encode()
    request = Request(f"{service}/auth/signup", body, {"Content-Type": "application/json"})
    assert urlopen(request).status == 201
    return mailed(service, post)


def mailed(service, post):
    return f"{service}/auth/verify-email?token={post.token(kinds.VERIFY_EMAIL)}&email={ANN}"


def click(browser, decision):
    browser.find_element(By.CSS_SELECTOR, f"button[value={decision}]").click()


def wait_for_redirect(browser, front_end):
    WebDriverWait(browser, 10, 0.05).until(lambda _: browser.current_url.startswith(front_end))
    return browser.current_url


def test_opened_link_changes_nothing_and_confirming_verifies_the_address(
    browser, service, front_end, link
):
    browser.get(link)
    assert browser.find_element(By.TAG_NAME, "h1").text == "Confirm your address"
    assert not account().verified_email_key

    click(browser, "confirm")

    assert wait_for_redirect(browser, front_end) == f"{front_end}/verified?status=success"
    assert account().proven_email_key
    assert not [log for log in browser.get_log("browser") if "Security Policy" in log["message"]]


def test_denying_removes_the_access_of_the_sign_up(browser, service, front_end, link):
    browser.get(link)
    click(browser, "deny")

    assert wait_for_redirect(browser, front_end) == f"{front_end}/verified?status=error"
    assert not account().verified_email_key
    assert not account().user.has_usable_password()
    assert not Session.objects.filter(ended_at=None).exists()


def test_browser_that_signed_up_needs_no_confirmation(browser, service, front_end, post):
    answer = fetch(
        browser,
        f"{service}/auth/signup",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=f'{{"email": "{ANN}", "password": "{PASSWORD}"}}',
    )
    assert answer["status"] == 201

    browser.get(mailed(service, post))

    assert wait_for_redirect(browser, front_end) == f"{front_end}/verified?status=success"
    assert account().proven_email_key
