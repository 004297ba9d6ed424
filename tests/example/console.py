"""A visitor of the shop of the example project, in a real Chromium."""

from __future__ import annotations

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.example.servers import KEY
from tests.support.browser import console_errors, requested

PASSWORD = "plum tart 42 windows"
# Width and height in CSS pixels, and whether it is a phone.
SIZES = {
    "small phone": (320, 640, True),
    "phone": (390, 844, True),
    "desktop": (1280, 900, False),
}

_LINKS = """
const [to, part] = arguments;
return [...document.querySelectorAll("#mails > li")]
    .filter(mail => mail.querySelector(".to").textContent.includes(to))
    .flatMap(mail => [...mail.querySelectorAll("a")])
    .filter(link => link.href.includes(part))
    .map(link => link.href);
"""
_TOAST = "return document.querySelector('.toast')?.textContent ?? ''"


class Profile:
    """One profile of a browser, at the shop of the service at `origin`."""

    def __init__(self, browser, origin, size="desktop"):
        self.browser = browser
        self.origin = origin
        self.size = size
        self.resize(self.size)
        self.emulate(scheme="light")
        browser.get("about:blank")
        # Nobody is signed in without them. They outlive the page, and all ports share them.
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.execute_cdp_cmd(
            "Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"}
        )
        self.complaints()  # those of the page before
        self.open(f"/?mailbox={KEY}")
        browser.execute_script("sessionStorage.clear()")

    def resize(self, size, *, height=0):
        """The size of the window; a `height` shows the whole page, with nothing below an edge."""
        width, usual, mobile = SIZES[size]
        metrics = {"width": width, "height": height or usual, "mobile": mobile}
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {**metrics, "deviceScaleFactor": 1}
        )

    def emulate(self, *, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, path):
        self.browser.get(path if path.startswith("http") else self.origin + path)

    def until(self, condition):
        return WebDriverWait(self.browser, 20, 0.03).until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def shown(self, selector):
        """The element as soon as it is displayed."""
        return self.until(lambda: next((e for e in self.all(selector) if e.is_displayed()), None))

    def toast(self, to):
        """The toast of the newest mail, as soon as that is one to this address: until it arrives, a
        mail of somebody else is the newest."""
        self.until(lambda: to in self.browser.execute_script(_TOAST))
        return self.shown(".toast")

    @property
    def heading(self):
        return self.find("h1").text

    @property
    def path(self):
        return self.browser.current_url.removeprefix(self.origin).partition("?")[0]

    @property
    def text(self):
        return self.find("body").text

    def press(self, element):
        """Click on it as soon as nothing covers it."""
        self.until(lambda: _is_clicked(element))

    def go(self, element):
        """Press a link or a button that leads to another page, and wait for that."""
        before = self.find("html").id
        self.press(element)
        self.until(lambda: self._has_left(before))

    def _has_left(self, before):
        try:
            is_new = self.find("html").id != before
        except WebDriverException:  # between two pages
            return False
        return is_new and self.browser.execute_script("return document.readyState") == "complete"

    def send(self, form="main form", **fields):
        """Fill a form and send it with its button."""
        element = self.shown(form)
        for name, value in fields.items():
            field = element.find_element(By.NAME, name)
            if field.tag_name == "input":
                field.clear()
            field.send_keys(value)
        self.go(element.find_element(By.CSS_SELECTOR, "button:not([type=button])"))

    def sign_up(self, email):
        self.open("/")
        self.send("#card form", email=email, password=PASSWORD)
        assert self.path == "/"
        assert self.is_signed_in

    def sign_in(self, email, password, code=""):
        self.open("/auth/login")
        self.send(identifier=email, password=password)
        if code:
            self.send(code=code)

    def sign_out(self):
        self.open("/")
        self.press(self.find(".menu summary"))
        self.go(self.shown(".menu form button"))
        self.open("/")
        assert not self.is_signed_in

    @property
    def is_signed_in(self):
        return bool(self.all(".menu"))

    def mailed(self, to, part):
        """The newest link with `part` in its address in the mails to an address."""
        self.open("/mailbox")
        return self.until(lambda: self.browser.execute_script(_LINKS, to, part))[0]

    def follow(self, to, part):
        """Open a mailed link."""
        self.open(self.mailed(to, part))

    def is_as_wide_as_the_screen(self):
        return self.browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    def complaints(self, *allowed):
        """Errors in the console of the browser, and requests to other hosts than `allowed`. A form
        that was refused is an answer with an error, which Chromium reports."""
        known = (self.origin, *allowed, "data:", "about:", "chrome")
        elsewhere = [url for url in requested(self.browser) if not url.startswith(known)]
        errors = [error for error in console_errors(self.browser) if " 400 " not in error]
        return [*errors, *elsewhere]


def _is_clicked(element):
    try:
        element.click()
    except WebDriverException as refusal:
        if "not interactable" in refusal.msg or "intercepted" in refusal.msg:
            # It may be on the screen, but below the bar at the bottom.
            script = "arguments[0].scrollIntoView({block: 'center'})"
            element.parent.execute_script(script, element)
            return False
        raise
    return True
