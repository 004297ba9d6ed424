"""A user of the keyboard alone: every key goes to the element that has the focus, and no script and
no click moves it."""

import os

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.example.conftest import group
from tests.example.console import PASSWORD
from tests.example.servers import Service
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium, group(Service())]

# The element that has the focus: its name, and what is wrong with how it is displayed.
_FOCUSED = """
const element = document.activeElement;
const hidden = element.matches(".tabs > input");
const visible = hidden ? element.nextElementSibling : element;
const style = getComputedStyle(visible);
const box = visible.getBoundingClientRect();
const wrong = [];
if (element === document.body || !element.isConnected) wrong.push("the focus is lost");
else if (element !== document.querySelector("main")) {
    if (style.outlineStyle === "none" || style.outlineWidth !== "3px") wrong.push("no outline");
    if (!box.width || !box.height) wrong.push("not displayed");
    if (box.bottom <= 0 || box.top >= innerHeight) wrong.push("outside of the screen");
}
return [wrong, element.id || element.textContent.trim().replace(/\\s+/g, " ")];
"""


class Keyboard:
    def __init__(self, profile):
        self.profile = profile

    def press(self, *keys):
        ActionChains(self.profile.browser).send_keys(*keys).perform()

    def focused(self):
        """The name of the element that has the focus, which the user sees."""
        wrong, name = self.profile.browser.execute_script(_FOCUSED)
        assert wrong == [], name[:60]
        return name

    def to(self, name, key=Keys.TAB):
        """Press a key until an element has the focus whose name begins with `name`."""
        passed = []
        for _ in range(60):
            self.press(key)
            passed.append(self.focused())
            if passed[-1].startswith(name):
                return
        raise AssertionError(f"no way to {name}: {passed}")

    def enter(self):
        """Press Enter, and wait for the next page."""
        before = self.profile.find("html").id
        self.press(Keys.ENTER)
        self.profile.until(lambda: self.profile._has_left(before))


@pytest.fixture
def keyboard(ann):
    return Keyboard(ann)


def test_user_does_everything_with_the_keyboard_alone(keyboard):
    ann, address = keyboard.profile, f"keys-{os.urandom(4).hex()}@example.com"

    # Sign up. The first stop skips the header.
    keyboard.press(Keys.TAB)
    assert keyboard.focused() == "Skip to the content"
    keyboard.press(Keys.ENTER)
    assert keyboard.focused() == "main"
    keyboard.to("email")
    keyboard.press(address)
    keyboard.to("password")
    keyboard.press(PASSWORD)
    keyboard.enter()
    assert ann.is_signed_in

    # Open the mail by its toast; the focus moves to it, and then to the link in it.
    ann.toast(address)
    keyboard.to("Open")
    keyboard.press(Keys.ENTER)
    assert keyboard.focused().startswith("Confirm your e-mail address")
    keyboard.to("http")
    keyboard.enter()
    assert ann.heading == "Your e-mail address is confirmed"

    # Switch to the requests in the drawer, which is still open, and copy one.
    ann.open("/")
    keyboard.to("show-calls")
    keyboard.press(Keys.RIGHT)
    assert keyboard.focused() == "show-mails"
    keyboard.press(Keys.LEFT)
    keyboard.to("200 GET /auth/verify-email")
    keyboard.press(Keys.ENTER)
    keyboard.to("Copy")
    keyboard.press(Keys.ENTER)
    ann.until(lambda: keyboard.focused() == "Copied")

    # Sign out by the menu; Escape closes it.
    ann.open("/")
    keyboard.to(f"K Menu of {address}")
    keyboard.press(Keys.ENTER)
    assert ann.shown(".sheet")
    keyboard.to("Your orders")
    keyboard.press(Keys.ESCAPE)
    assert not ann.find(".sheet").is_displayed()
    keyboard.press(Keys.ENTER)
    keyboard.to("Sign out")
    keyboard.enter()
    ann.open("/")
    assert not ann.is_signed_in
    assert ann.complaints() == []
