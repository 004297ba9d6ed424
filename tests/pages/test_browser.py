"""The pages in a real Chromium: by keyboard alone, on a phone, in the dark, without a script."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.messages import kinds
from tests.invitation.invites import BOB
from tests.pages.conftest import APPS
from tests.support.axe import violations
from tests.support.browser import chromium, console_errors, needs_chromium, requested
from tests.support.flows import ANN, NEW, prove
from tests.support.mounted import mounted

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), needs_chromium]

# What axe-core does not check.
AUDIT = """
const wrong = [];
for (const input of document.querySelectorAll("input:not([type=hidden]):not([hidden])")) {
    if (!input.autocomplete) wrong.push(`no autocomplete: ${input.outerHTML}`);
}
if (document.documentElement.scrollWidth > innerWidth) wrong.push("scrolls sideways");
if (document.scripts.length > 1) wrong.push("has several scripts");
if ([...document.scripts].some(script => script.src)) wrong.push("loads a script");
return wrong;
"""


@pytest.fixture(autouse=True, scope="module")
def _pages():
    with mounted(*APPS):
        yield


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("reader")) as browser:
        yield browser


@pytest.fixture(params=["light", "dark"])
def reader(request, browser, live_server, configure):
    """The browser on a phone, in one of the two colour schemes."""
    url = live_server.url.replace("localhost", "127.0.0.1")
    configure(API_URL=url, PAGES={"NAME": "Plum"})
    feature = {"name": "prefers-color-scheme", "value": request.param}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.delete_all_cookies()
    requested(browser), console_errors(browser)
    return Keyboard(browser, url)


class Keyboard:
    """A person who uses the keyboard alone."""

    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def open(self, link):
        self.browser.get(link)
        assert self.wrong() == []

    def wrong(self):
        """What is wrong with the page, and with what the browser did for it."""
        others = [url for url in requested(self.browser) if not url.startswith(self.url)]
        # A form that was refused is an answer with an error, which Chromium reports.
        errors = [one for one in console_errors(self.browser) if " 400 " not in one]
        own = self.browser.execute_script(AUDIT)
        return [*own, *violations(self.browser), *others, *errors]

    @property
    def focused(self):
        return self.browser.switch_to.active_element

    def tab_to(self, name):
        for _ in range(10):
            names = self.focused.get_attribute("name"), self.focused.tag_name
            if name in names and self.focused.get_attribute("type") != "button":
                outline = self.focused.value_of_css_property("outline-width")
                assert outline == "3px", "the focus cannot be seen"
                return self.focused
            self.focused.send_keys(Keys.TAB)
        raise AssertionError(f"no {name} by the Tab key")

    def type(self, name, text):
        self.tab_to(name).send_keys(text)

    def press(self):
        """Press the button; returns the heading of the next page."""
        before = self.browser.find_element(By.TAG_NAME, "html")
        self.tab_to("button").send_keys(Keys.ENTER)
        WebDriverWait(self.browser, 10).until(lambda _: self._moved(before))
        assert self.wrong() == []
        return self.heading

    def _moved(self, before):
        return self.browser.find_element(By.TAG_NAME, "html").id != before.id

    @property
    def heading(self):
        return self.browser.find_element(By.TAG_NAME, "h1").text


def test_password_is_reset_by_keyboard(reader, api, post, ann):
    api.post("forgot-password", email=ANN)
    reader.open(post.link(kinds.RESET_BY_LINK))
    assert reader.focused.get_attribute("name") == "new_password"

    reader.type("new_password", "short")
    assert reader.press() == "Choose a new password"
    assert reader.focused.get_attribute("aria-invalid") == "true"
    reader.type("new_password", NEW)

    assert reader.press() == "Your password was changed"
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_invitation_is_accepted_by_keyboard(reader, api, post, ann):
    prove()
    api.post("invitations", token=ann["access_token"], email=BOB)
    reader.open(post.link("invitation"))

    reader.type("name", "Bob")
    reader.type("password", NEW)

    assert reader.press() == "Invitation accepted"


def test_other_pages_by_keyboard(reader, api, flows, post, ann):
    token = flows.email_token()
    reader.open(post.link(kinds.VERIFY_EMAIL))
    assert reader.press() == "Your e-mail address is confirmed"
    reader.open(f"{reader.url}/auth/account/secure?token={token}")
    api.post("magic-link/send", email=ANN)
    reader.open(post.link("magic-link"))
    assert reader.tab_to("button").text
    reader.open(f"{reader.url}/auth/magic-link/verify?token={token}")
    assert reader.heading == "This link does not work"
