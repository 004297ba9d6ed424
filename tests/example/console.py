"""The user of the console, in a real Chromium."""

from __future__ import annotations

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.example.servers import KEY
from tests.support.browser import console_errors, requested

PASSWORD = "plum tart 42 windows"
# Width and height in CSS pixels, and whether it is a phone.
SIZES = {"phone": (390, 844, True), "desktop": (1280, 900, False)}

_LINKS = """
const [to, part] = arguments;
return [...document.querySelectorAll("#mailbox > li")]
    .filter(mail => mail.textContent.includes(to))
    .flatMap(mail => [...mail.querySelectorAll("a")])
    .filter(link => link.href.includes(part));
"""
_SETTLED = """
return document.readyState === "complete"
    && document.querySelectorAll("#log > li").length > arguments[0]
    && !document.querySelector("form[aria-busy]");
"""
_CALLS = """
const inside = [...document.querySelectorAll("template")].map(template => template.content);
return [document, ...inside].flatMap(
    part => [...part.querySelectorAll("form[data-call]")].map(form => form.dataset.call));
"""


class Profile:
    """One profile of a browser, with the page of the console at `origin`.

    `sent` are the calls of the forms that it sent.
    """

    def __init__(self, browser, origin, size="desktop"):
        self.browser = browser
        self.origin = origin
        self.size = size
        self.sent = set()
        self._close_other_tabs()
        self.resize(self.size)
        self.emulate(scheme="light")
        browser.get("about:blank")
        # Nobody is signed in without them. They outlive the page, and all ports share them.
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.complaints()  # those of the page before
        self.open(f"/?mailbox={KEY}")

    def _close_other_tabs(self):
        """Those that a test left when it failed."""
        first, *others = self.browser.window_handles
        for tab in others:
            self.browser.switch_to.window(tab)
            self.browser.close()
        self.browser.switch_to.window(first)

    def resize(self, size):
        width, height, mobile = SIZES[size]
        metrics = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def emulate(self, *, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, path):
        self.browser.get(self.origin + path)

    def until(self, condition):
        return WebDriverWait(self.browser, 20, 0.03).until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def says(self, text, selector="#banner"):
        self.until(lambda: text in self.text(selector))

    def press(self, element):
        """Click on it as soon as nothing covers it. It moves when a mail arrives above it."""
        self.until(lambda: _is_clicked(element))

    def send(self, form, **fields):
        """Fill a form, send it with its button, wait for all requests that follow from that, and
        return the result that the form shows."""
        if isinstance(form, str):
            form = self.find(f"#{form}")
        self.until(form.is_displayed)
        for name, value in fields.items():
            field = form.find_element(By.NAME, name)
            if field.tag_name == "input":
                field.clear()
            field.send_keys(value)
        result = form.find_element(By.CLASS_NAME, "result")
        self.sent.add(form.get_dom_attribute("data-call"))
        before = self.log_length()
        self.press(form.find_element(By.TAG_NAME, "button"))
        self.settled(before)
        return result.get_property("textContent")

    def send_row(self, row, **fields):
        """Send the form of a row of a list; the response may replace the row."""
        form = self.until(lambda: self.find(f"{row} form"))
        self.sent.add(form.get_dom_attribute("data-call"))
        before = self.log_length()
        self.press(form.find_element(By.TAG_NAME, "button"))
        self.settled(before)

    def settled(self, before=-1):
        """Wait until the log has more than `before` requests, and each one its response."""
        self.until(lambda: self.browser.execute_script(_SETTLED, before))

    def calls(self):
        """The calls of all forms of the page, displayed or not."""
        return set(self.browser.execute_script(_CALLS))

    def is_signed_in_as(self, address):
        self.says(f"Signed in as {address}", "#who")

    def log_out(self):
        self.send("logout")
        self.says("Logged out.")
        assert self.text("#who") == "Signed out"

    def log_length(self):
        return len(self.all("#log > li"))

    def command(self, call):
        """The newest command in the log for a call, such as "GET /auth/me"."""
        for entry in self.all("#log > li"):
            if entry.find_element(By.CSS_SELECTOR, "[data-text=call]").text == call:
                return entry.find_element(By.CSS_SELECTOR, "pre").get_property("textContent")
        raise AssertionError(f"{call} is not in the log")

    def mailed(self, to, part):
        """The newest link with `part` in its address in the mails to an address."""
        return self.until(lambda: self.browser.execute_script(_LINKS, to, part))[0]

    def follow(self, to, part):
        """Click on a mailed link, and continue in the tab that it opens."""
        link = self.mailed(to, part)
        mail = link.find_element(By.XPATH, "ancestor::details")
        if not mail.get_property("open"):
            self.press(mail.find_element(By.TAG_NAME, "summary"))
        self.press(link)
        self.continue_in_new_tab()

    def continue_in_new_tab(self):
        [first, tab] = self.until(self._tabs)
        self._first = first
        self.browser.switch_to.window(tab)
        self.resize(self.size)
        self.until(lambda: self.browser.current_url.startswith(self.origin))
        self.settled()

    def _tabs(self):
        tabs = self.browser.window_handles
        return tabs if len(tabs) == 2 else None

    def back(self):
        """Close the tab, and continue in the one before."""
        self.browser.close()
        self.browser.switch_to.window(self._first)

    def is_as_wide_as_the_screen(self):
        return self.browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    def complaints(self, *allowed):
        """Errors in the console of the browser, and requests to other hosts than `allowed`."""
        known = (self.origin, *allowed, "data:", "about:", "chrome")
        elsewhere = [url for url in requested(self.browser) if not url.startswith(known)]
        return [*console_errors(self.browser), *elsewhere]


def _is_clicked(element):
    try:
        element.click()
    except WebDriverException as refusal:
        if "not interactable" in refusal.msg or "intercepted" in refusal.msg:
            return False
        raise
    return True
