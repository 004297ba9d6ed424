"""A user of the keyboard alone: every key goes to the element that has the focus, and no script and
no click moves it."""

import time

import pyotp
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.example.conftest import group
from tests.example.console import PASSWORD, Profile
from tests.example.servers import Service
from tests.example.visit import serious, wait_for_time_step
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium, group(Service())]

# The element that has the focus: its name, and what is wrong with how it is displayed.
_FOCUSED = """
const element = document.activeElement;
const style = getComputedStyle(element);
const box = element.getBoundingClientRect();
const wrong = [];
if (element === document.body || !element.isConnected) wrong.push("the focus is lost");
else if (element !== document.querySelector("main")) {
    if (style.outlineStyle === "none" || style.outlineWidth !== "3px") wrong.push("no outline");
    if (!box.width || !box.height) wrong.push("not displayed");
    if (box.bottom <= 0 || box.top >= innerHeight) wrong.push("outside of the screen");
}
const form = element.closest("form")?.getAttribute("id");  // a field may be named "id"
const text = element.textContent.trim();
return [wrong, form ? `${form} ${element.name || text}` : element.id || text];
"""


class Keyboard:
    def __init__(self, profile):
        self.profile = profile

    def press(self, *keys):
        ActionChains(self.profile.browser).send_keys(*keys).perform()

    def back(self):
        """Shift+Tab"""
        chain = ActionChains(self.profile.browser).key_down(Keys.SHIFT).send_keys(Keys.TAB)
        chain.key_up(Keys.SHIFT).perform()

    def focused(self):
        """The name of the element that has the focus, which the user sees."""
        wrong, name = self.profile.browser.execute_script(_FOCUSED)
        assert wrong == [], name[:60]
        return name

    def to(self, name, step=None):
        """Press Tab, or repeat another `step`, until an element has the focus whose name begins
        with `name`."""
        step = step or (lambda: self.press(Keys.TAB))
        passed = []
        for _ in range(150):
            step()
            passed.append(self.focused())
            if passed[-1].startswith(name):
                return
        raise AssertionError(f"no way to {name}: {passed}")

    def send(self, key=Keys.ENTER):
        """Press a key, and wait for all responses; returns the name of what has the focus then."""
        before = self.profile.log_length()
        self.press(key)
        self.profile.settled(before)
        return self.focused()

    def fill(self, form, **fields):
        for name, value in fields.items():
            self.to(f"{form} {name}")
            self.press(value)


@pytest.fixture
def keyboard(ann):
    return Keyboard(ann)


def test_user_does_everything_with_the_keyboard_alone(keyboard, consoles, browsers):
    ann = keyboard.profile
    address = "keys@example.com"

    # Sign up. The first stop skips the header.
    keyboard.press(Keys.TAB)
    assert keyboard.focused() == "Skip to the forms"
    keyboard.press(Keys.ENTER)
    keyboard.fill("signup", email=address, password=PASSWORD)
    keyboard.to("signup Sign up")
    assert keyboard.send(Keys.SPACE) == "account-title"
    ann.is_signed_in_as(address)

    # Verify: the link in the mail opens a tab.
    ann.mailed(address, "/verify-email?")
    keyboard.to("http")
    keyboard.press(Keys.ENTER)
    ann.continue_in_new_tab()
    ann.says("The address is verified.")
    ann.back()

    # Set up a second factor.
    keyboard.to("setup Set up", keyboard.back)
    assert keyboard.send() == "setup Set up"
    app = pyotp.TOTP(ann.text("#secret [data-text=secret]"))
    wait_for_time_step(seconds=15)
    keyboard.fill("verify", code=app.at(time.time() - 30))
    assert keyboard.send() == "verify code"
    assert ann.text("#factor-state [data-text=enabled]") == "true"

    # Log out, and log in with the code.
    keyboard.to("logout Log out", keyboard.back)
    assert keyboard.send(Keys.SPACE) == "main"
    keyboard.fill("login", email=address, password=PASSWORD)
    assert keyboard.send() == "challenge-title"
    keyboard.fill("verify-login", code=app.now())
    assert keyboard.send() == "account-title"
    ann.is_signed_in_as(address)

    # End another session.
    other = Profile(browsers[1], ann.origin)
    other.send("login", email=address, password=PASSWORD)
    other.send("verify-login", code=app.at(time.time() + 30))
    keyboard.to("sessions List my sessions")
    keyboard.send()
    rows = ann.all("#session-list > li")
    assert len(rows) == 2
    [place] = [place for place, row in enumerate(rows, 1) if "this one" not in row.text]
    for _ in range(place):
        keyboard.press(Keys.TAB)
    assert keyboard.focused() == "End"
    assert keyboard.send(Keys.SPACE) == "session-list"
    assert len(ann.all("#session-list > li")) == 1
    other.send("me")
    other.says("This session has ended.")

    # Create an organization and switch to it.
    keyboard.fill("create", name="Keys")
    assert keyboard.send() == "create name"
    keyboard.to("Switch to it")
    assert keyboard.send() == "Switch to it"
    assert address in ann.text("#member-list")

    keyboard.to("logout Log out", keyboard.back)
    assert keyboard.send() == "main"
    ann.says("Logged out.")
    assert serious(ann) == []


def test_links_of_the_header_move_the_focus(keyboard):
    for title in ("Forms", "Mailbox", "Requests"):
        keyboard.profile.open("/")
        keyboard.to(title)
        keyboard.press(Keys.ENTER)
        target = {"Forms": "main", "Mailbox": "mailbox-title", "Requests": "log-title"}[title]
        assert keyboard.focused() == target


def test_focus_stays_on_the_page_when_the_form_of_a_mailed_link_disappears(keyboard):
    ann, address = keyboard.profile, "lost@example.com"
    ann.send("signup", email=address, password=PASSWORD)
    ann.log_out()
    ann.send("forgot", email=address)
    ann.follow(address, "/reset-password?")

    keyboard.fill("reset", new_password="fig tart 43 doors")

    assert keyboard.send() == "main"
    assert ann.text("#banner")
