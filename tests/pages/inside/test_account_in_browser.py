"""The account pages in a real Chromium: a person on a phone or a desktop, in light or dark, signs
up, works through the account and leaves. axe-core looks at each page on the way."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from authservice.core.messages import kinds
from authservice.pages import preview
from tests.support.axe import violations
from tests.support.browser import chromium, console_errors, needs_chromium, requested
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW
from tests.twofactor import people

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), needs_chromium]

SIZES = {"phone": (320, 640, True), "desktop": (1280, 900, False)}
# What axe-core does not check.
AUDIT = """
const wrong = [];
const hidden = ":not([type=hidden]):not([hidden])";
for (const input of document.querySelectorAll(`input${hidden}, select`)) {
    if (!input.autocomplete) wrong.push(`no autocomplete: ${input.outerHTML}`);
}
if (document.documentElement.scrollWidth > innerWidth) wrong.push("scrolls sideways");
if (document.scripts.length) wrong.push("has a script");
if (document.documentElement.outerHTML.length > 40000) wrong.push("is larger than 40 kB");
return wrong;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("person")) as browser:
        yield browser


@pytest.fixture(params=["phone light", "desktop dark"])
def visitor(request, browser, live_server, configure):
    size, scheme = request.param.split()
    url = live_server.url.replace("localhost", "127.0.0.1")
    configure(API_URL=url, PAGES={"NAME": "Plum", "LEGAL_LINKS": {"Terms": "/terms"}})
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    width, height, mobile = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    browser.delete_all_cookies()
    requested(browser), console_errors(browser)
    return Visitor(browser, url)


class Visitor:
    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def open(self, path):
        self.browser.get(path if path.startswith("http") else f"{self.url}/auth/{path}")
        return self.heading

    @property
    def heading(self):
        assert self.wrong() == [], self.browser.current_url
        return self.browser.find_element(By.TAG_NAME, "h1").text

    @property
    def path(self):
        return urlsplit(self.browser.current_url).path

    @property
    def text(self):
        return self.browser.find_element(By.TAG_NAME, "body").text

    def wrong(self):
        """What is wrong with the page, and with what the browser did for it."""
        others = [url for url in requested(self.browser) if not url.startswith((self.url, "data:"))]
        # A form that was refused is an answer with an error, which Chromium reports.
        errors = [one for one in console_errors(self.browser) if " 400 " not in one]
        return [*self.browser.execute_script(AUDIT), *violations(self.browser), *others, *errors]

    def send(self, **typed):
        """Fill in the form and press Enter, or its button if it has no field; the next heading."""
        field = None
        for name, text in typed.items():
            field = self.browser.find_element(By.NAME, name)
            if field.tag_name == "select":
                Select(field).select_by_value(text)
                field = None
            else:
                field.clear()
                field.send_keys(text)
        before = self.browser.find_element(By.TAG_NAME, "html")
        if field is not None:
            field.send_keys(Keys.ENTER)
        else:
            self.browser.find_element(By.CSS_SELECTOR, "main form button").send_keys(Keys.ENTER)
        self._wait(before)
        return self.heading

    def follow(self, text):
        before = self.browser.find_element(By.TAG_NAME, "html")
        self.browser.find_element(By.PARTIAL_LINK_TEXT, text).send_keys(Keys.ENTER)
        self._wait(before)
        return self.heading

    def _wait(self, before):
        def is_there(browser):
            is_new = browser.find_element(By.TAG_NAME, "html").id != before.id
            return is_new and browser.execute_script("return document.readyState") == "complete"

        WebDriverWait(self.browser, 20).until(is_there)


def test_person_works_through_the_account(visitor, post):
    assert visitor.open("account") == "Sign in to Plum"
    visitor.follow("Create an account")
    assert visitor.send(name="Ann Lee", email=ANN, password="short") == "Create your Plum account"
    assert "Please correct the marked field." in visitor.text
    assert visitor.send(password=PASSWORD) == "Profile"
    visitor.open(post.link(kinds.VERIFY_EMAIL))
    assert visitor.open("account/profile") == "Profile"
    assert "Confirmed" in visitor.text

    for form in ("name", "email", "username", "phone"):
        visitor.open(f"account/profile/{form}")
    assert visitor.open("account/security") == "Security"
    visitor.open("account/security/password")
    assert visitor.send(old_password=PASSWORD, new_password=NEW) == "Security"

    visitor.open("account/security/factor")
    visitor.send(password=NEW)
    secret = visitor.browser.find_element(By.CSS_SELECTOR, ".steps code").text
    app = people.app_of(f"otpauth://totp/x?secret={secret}")
    assert visitor.send(code=app.now()) == "Security"

    visitor.open("account/organizations")
    visitor.follow("Create one")
    visitor.send(name="Acme")
    visitor.follow("Open")
    visitor.follow("Invite")
    visitor.send(role="admin", email="bob@example.com")
    assert "bob@example.com" in visitor.text
    assert visitor.open("account/activity") == "Activity"
    assert "Signed up." in visitor.text
    if "account/sessions" in visitor.browser.page_source:
        assert visitor.open("account/sessions") == "Sessions"

    visitor.open("logout")
    assert visitor.send() == "You are signed out"
    visitor.browser.back()
    visitor.open("account/profile")
    assert visitor.path == "/auth/login"
    assert visitor.send(identifier=ANN, password=NEW) == "Enter your code"
    assert visitor.send(code=people.other_than(app.now())) == "Enter your code"
    assert visitor.send(code=app.at(people.time.time() + 30)) == "Profile"


def test_every_state_of_every_page_is_accessible(visitor, settings):
    settings.DEBUG = True

    wrong = {}
    for state in preview.shown():
        visitor.browser.get(f"{visitor.url}/auth/pages-preview?state={state}")
        wrong[state] = visitor.wrong()

    assert {state: found for state, found in wrong.items() if found} == {}


def test_person_without_scripts_signs_in_by_mail(visitor, post, api):
    api.sign_up()
    visitor.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    visitor.browser.get(f"{visitor.url}/auth/forgot-password")
    visitor.browser.get(f"{visitor.url}/orders")
    visitor.browser.find_element(By.PARTIAL_LINK_TEXT, "Send me a link").click()
    visitor.browser.find_element(By.NAME, "email").send_keys(ANN, Keys.ENTER)
    # Not the text of an element, which may be that of the page before.
    WebDriverWait(visitor.browser, 20).until(lambda one: "Look in your mailbox" in one.title)

    visitor.browser.get(post.link("magic-link"))

    assert visitor.browser.current_url == f"{visitor.url}/orders"
    assert re.search("orders of ann", visitor.text)
