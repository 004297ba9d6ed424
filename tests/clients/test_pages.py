"""The pages of the example clients in a real Chromium: React with cookies, and one without a build
step."""

import json

import pyotp
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.clients.people import PASSWORD, address, expired
from tests.clients.servers import post
from tests.support.axe import violations
from tests.support.browser import console_errors, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]


class Visitor:
    def __init__(self, browser, url):
        self.browser = browser
        browser.get(url)
        browser.execute_script("localStorage.clear()")
        browser.delete_all_cookies()
        browser.get(url)
        console_errors(browser)

    def find(self, selector):
        wait = WebDriverWait(self.browser, 10, 0.05)
        return wait.until(lambda _: self._shown(selector))

    def _shown(self, selector):
        found = self.browser.find_elements(By.CSS_SELECTOR, selector)
        return next((one for one in found if one.is_displayed()), None)

    def send(self, button, **fields):
        for name, value in fields.items():
            field = self.find(f"[name={name}]")
            field.clear()
            field.send_keys(value)
        self.find(button).click()

    def says(self, text):
        status = self.find("main")
        WebDriverWait(self.browser, 10, 0.05).until(lambda _: text in status.text)


def protected_user(service):
    """A user with a second factor; returns the address and a backup code."""
    email = address()
    token = post(service, "signup", email=email, password=PASSWORD)["access_token"]
    setup = post(service, "2fa/setup", token)
    post(service, "2fa/verify", token, code=pyotp.TOTP(setup["secret"]).now())
    return email, setup["backup_codes"][0]


@pytest.fixture(params=["react", "browser"])
def visitor(request, browser, bundled):
    return Visitor(browser, f"{bundled.pages}/{request.param}/")


LOGIN = "#login, [value='/login']"
SIGNUP = "#signup, [value='/signup']"
LOGOUT = "#account button, section button"


def test_visitor_signs_up_reloads_and_logs_out(visitor):
    email = address()
    visitor.send(SIGNUP, email=email, password=PASSWORD)
    assert visitor.find("#email").text == email
    visitor.browser.refresh()
    assert visitor.find("#email").text == email

    visitor.find(LOGOUT).click()

    visitor.find(LOGIN)
    visitor.browser.refresh()
    visitor.find(LOGIN)


def test_visitor_logs_in_with_a_second_factor(visitor, bundled):
    email, code = protected_user(bundled.bearer)
    visitor.send(LOGIN, email=email, password="wrong")
    visitor.says("The credentials are not valid.")

    visitor.send(LOGIN, email=email, password=PASSWORD)
    visitor.send("form:has([name=code]) button", code=code)

    assert visitor.find("#email").text == email


def test_page_is_accessible_in_each_state(visitor, bundled):
    email, code = protected_user(bundled.bearer)
    visitor.find(LOGIN)
    assert violations(visitor.browser) == []

    visitor.send(LOGIN, email=email, password=PASSWORD)
    visitor.find("form:has([name=code]) button")
    assert violations(visitor.browser) == []

    visitor.send("form:has([name=code]) button", code=code)
    visitor.find("#email")
    assert violations(visitor.browser) == []


def test_page_without_build_step_refreshes_an_expired_token(browser, bundled):
    visitor, email = Visitor(browser, f"{bundled.pages}/browser/"), address()
    visitor.send(SIGNUP, email=email, password=PASSWORD)
    visitor.find("#email")
    tokens = json.loads(browser.execute_script("return localStorage.tokens"))
    tokens["access_token"] = expired(tokens["access_token"])
    browser.execute_script("localStorage.tokens = arguments[0]", json.dumps(tokens))

    browser.refresh()

    assert visitor.find("#email").text == email
    assert json.loads(browser.execute_script("return localStorage.tokens")) != tokens


def test_react_page_refreshes_after_the_access_cookie_expired(browser, bundled):
    visitor, email = Visitor(browser, f"{bundled.pages}/react/"), address()
    visitor.send(SIGNUP, email=email, password=PASSWORD)
    visitor.find("#email")
    browser.delete_cookie("authservice_access")

    browser.refresh()

    assert visitor.find("#email").text == email
