"""The account pages in a real Chromium: a person on a phone or a desktop, in light or dark, signs
up, works through the account and leaves. axe-core looks at each page on the way."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from authservice.core.credentials import password_rules
from authservice.core.errors import InvalidPassword
from authservice.core.messages import kinds
from authservice.kernel.secret import Secret
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
if (document.scripts.length > 1) wrong.push("has several scripts");
if ([...document.scripts].some(script => script.src)) wrong.push("loads a script");
if (document.documentElement.outerHTML.length > 40000) wrong.push("is larger than 40 kB");
return wrong;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("person")) as browser:
        yield browser


once = pytest.mark.parametrize("visitor", ["desktop dark"], indirect=True)


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
            self.browser.find_element(
                By.CSS_SELECTOR, "main form button:not([type=button])"
            ).send_keys(Keys.ENTER)
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
    assert visitor.browser.switch_to.active_element.get_attribute("name") == "password"
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


# The rows of tabs, whether the current tab is in view, whether there are more than fit, and where
# the row stays that a finger moves.
TABS = """
const [row, done] = [document.querySelector(".side"), arguments[0]];
const { left, right } = row.querySelector("[aria-current]").getBoundingClientRect();
const rows = new Set([...row.children].map(tab => tab.offsetTop)).size;
const begun = row.getAnimations({ subtree: true }).map(one => one.finished);
Promise.all(begun).then(() => {
    row.scrollLeft = 20;
    const isWide = row.scrollWidth > row.clientWidth;
    setTimeout(() => done([rows, left >= 0 && right <= innerWidth, isWide, row.scrollLeft]), 300);
});
"""


def test_tabs_on_a_phone_are_one_row_with_the_current_one_in_view(visitor, settings):
    settings.DEBUG = True
    visitor.browser.get(f"{visitor.url}/auth/pages-preview?state=account-activity")

    rows, is_in_view, is_wide, moved = visitor.browser.execute_async_script(TABS)

    if visitor.browser.execute_script("return innerWidth") == SIZES["phone"][0]:
        assert (rows, is_in_view, is_wide, moved) == (1, True, True, 20)
    else:
        assert rows > 1
        assert (is_in_view, is_wide, moved) == (True, False, 0)


def test_person_without_scripts_signs_in_by_mail(visitor, post, api):
    api.sign_up()
    visitor.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    visitor.browser.get(f"{visitor.url}/auth/forgot-password")
    visitor.browser.get(f"{visitor.url}/orders")
    visitor.browser.find_element(By.PARTIAL_LINK_TEXT, "Send me a link").click()
    visitor.browser.find_element(By.NAME, "email").send_keys(ANN, Keys.ENTER)
    # Not the text of an element, which may be that of the page before.
    WebDriverWait(visitor.browser, 20).until(lambda one: "Check your e-mail" in one.title)

    visitor.browser.get(post.link("magic-link"))

    assert visitor.browser.current_url == f"{visitor.url}/orders"
    assert re.search("orders of ann", visitor.text)


# Types a password; the rules that have a mark, and those that are kept.
TYPED = """
const input = document.querySelector("input[type=password]");
input.value = arguments[0];
input.dispatchEvent(new Event("input"));
const texts = (selector) => [...document.querySelectorAll(selector)].map(one => one.textContent);
return [texts("[data-rule]"), texts(".kept")];
"""
TYPED_PASSWORDS = (
    *("a", "A", "1", "aA1!", "12345678", "abcdefgh", "1234567890", "aaaaaaaaa", "aaaaaaaaaa"),
    *("ä", "Ä", "ß", "ǅ", "ª", "٣", "²", "\u0301", "日本語", "_", "\t", " " * 10, "é" * 9),
    *("😀" * 9, "😀" * 10, "e\u0301" * 5, "Correct horse 9!"),
)


# The words of an error of Django, by those of its rule.
OF_DJANGO = {
    "Must have at least 10 characters.": (
        "This password is too short. It must contain at least 10 characters."
    ),
    "Must not consist of digits only.": "This password is entirely numeric.",
}


def refusals_of(password):
    try:
        password_rules.require_strong(Secret(password), None)
    except InvalidPassword as refused:
        return refused.texts["password"]
    return []


@once
def test_rules_of_a_password_are_marked_as_the_server_decides(visitor, configure, settings):
    validators = "django.contrib.auth.password_validation."
    settings.AUTH_PASSWORD_VALIDATORS = [
        {"NAME": f"{validators}MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
        {"NAME": f"{validators}NumericPasswordValidator"},
        {"NAME": f"{validators}CommonPasswordValidator"},
    ]
    kinds_of = ("UPPERCASE", "LOWERCASE", "DIGIT", "SYMBOL")
    configure(API_URL=visitor.url, CORE={f"REQUIRE_{kind}": True for kind in kinds_of})
    visitor.open("signup")
    assert visitor.browser.execute_script(TYPED, "")[1] == []
    wrong = {}

    for password in TYPED_PASSWORDS:
        marked, kept = visitor.browser.execute_script(TYPED, password)
        refusals = refusals_of(password)
        expected = [one for one in marked if OF_DJANGO.get(one, one) not in refusals]
        if len(marked) != 6 or kept != expected:
            wrong[password] = (kept, refusals)

    assert wrong == {}


# Presses the button twice. Whether the second time did nothing, and what the form shows meanwhile.
PRESSED = """
const form = document.querySelector("main form");
const button = form.querySelector("button:not([type=button])");
const prevented = [];
addEventListener("submit", (event) => prevented.push(event.defaultPrevented));
form.requestSubmit(button);
form.requestSubmit(button);
const busy = getComputedStyle(button, "::before").animationName;
return [prevented, busy, form.elements.password.type];
"""


def test_password_is_shown_while_its_button_is_pressed(visitor, api, ann):
    visitor.open("login")
    field = visitor.browser.find_element(By.NAME, "password")
    eye = visitor.browser.find_element(By.CSS_SELECTOR, "[data-shows]")
    visitor.browser.find_element(By.NAME, "identifier").send_keys(ANN)
    field.send_keys(PASSWORD, Keys.TAB)
    assert visitor.browser.switch_to.active_element == eye

    eye.send_keys(Keys.SPACE)
    assert (field.get_attribute("type"), eye.get_attribute("aria-pressed")) == ("text", "true")
    assert visitor.wrong() == []
    assert visitor.browser.execute_script(PRESSED) == [[False, True], "turn", "password"]


@once
def test_button_is_ready_again_behind_the_back_button(visitor, ann):
    visitor.open("forgot-password")
    visitor.send(email=ANN)
    visitor.browser.back()

    WebDriverWait(visitor.browser, 20).until(lambda one: one.find_elements(By.NAME, "email"))
    assert visitor.browser.find_elements(By.CSS_SELECTOR, "[aria-busy]") == []


@once
def test_page_has_no_button_that_only_a_script_can_use(visitor):
    visitor.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    visitor.browser.get(f"{visitor.url}/auth/login")

    assert not visitor.browser.find_element(By.CSS_SELECTOR, "[data-shows]").is_displayed()


CLIPBOARD = ["clipboardReadWrite", "clipboardSanitizedWrite"]


@once
def test_backup_codes_are_copied_and_downloaded(visitor, settings, tmp_path):
    settings.DEBUG = True
    for command, parameters in (
        ("Browser.grantPermissions", {"permissions": CLIPBOARD}),
        ("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}),
    ):
        visitor.browser.execute_cdp_cmd(command, parameters)
    visitor.open("pages-preview?state=account-codes")
    codes = [code.text for code in visitor.browser.find_elements(By.CSS_SELECTOR, ".codes code")]
    copy = visitor.browser.find_element(By.CSS_SELECTOR, "[data-copied]")
    file = tmp_path / "backup-codes.txt"

    copy.click()
    visitor.browser.find_element(By.CSS_SELECTOR, "[download]").click()

    WebDriverWait(visitor.browser, 20).until(lambda _: copy.text == "Copied" and file.exists())
    read = "navigator.clipboard.readText().then(arguments[0])"
    assert visitor.browser.execute_async_script(read).split() == codes
    assert file.read_text().split() == codes
    assert visitor.wrong() == []


@once
def test_mailed_code_is_sent_with_its_last_digit(visitor, post, ann):
    visitor.open("magic-link/send")
    visitor.send(email=ANN)
    assert "Code (six digits, sent automatically)" in visitor.text
    before = visitor.browser.find_element(By.TAG_NAME, "html")

    visitor.browser.find_element(By.NAME, "code").send_keys(post.code("magic-link"))

    visitor._wait(before)
    assert visitor.heading == "Profile"


# How many backup codes are on the paper, and what is of no use there.
PRINTED = """
const all = (selector) => [...document.querySelectorAll(selector)];
const shown = (selector) => all(selector).filter(one => one.checkVisibility());
return [shown(".codes code").length, shown("button, input, nav, .ends").map(one => one.outerHTML)];
"""


@once
def test_pages_with_backup_codes_print_them(visitor, settings):
    settings.DEBUG = True
    states = {state: made for state, made in preview.shown().items() if "backup_codes" in str(made)}
    printed = {}
    visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})

    for state in states:
        visitor.browser.get(f"{visitor.url}/auth/pages-preview?state={state}")
        printed[state] = visitor.browser.execute_script(PRINTED)

    visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert set(states) >= {"account-factor", "account-codes", "factor-set-up"}
    assert printed == dict.fromkeys(states, [10, []])
