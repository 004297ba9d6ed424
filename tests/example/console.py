"""The console of the example project under a real server, and its user in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from urllib.request import urlopen

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.hosts.servers import own_database
from tests.notification.servers import free_port
from tests.support.browser import console_errors, requested
from tests.support.processes import environment, started, wait_for

PASSWORD = "plum tart 42 windows"
KEY = "the-key-of-the-mailbox"
# Width and height in CSS pixels, and whether it is a phone.
SIZES = {"phone": (390, 844, True), "desktop": (1280, 900, False)}


SERVE = ("example_project/manage.py", "serve", "-v", "0")
UVICORN = ("-m", "uvicorn", "--log-level", "warning", "example_project.asgi:application")


@contextmanager
def consoles(folder: Path, **variables: str) -> Iterator[tuple[str, str]]:
    """The example project on a new database, once for each login module; yields both origins.

    The first has the session module under gunicorn; the second the stateless one under uvicorn, and
    tokens in cookies.
    """
    first, second = (str(free_port()) for _ in range(2))
    log = folder / "server.log"
    with own_database("console", folder) as url:
        mailbox = {"AUTHSERVICE_MAILBOX": str(folder / "mailbox"), "AUTHSERVICE_MAILBOX_KEY": KEY}
        given = {**mailbox, "DATABASE_URL": url, **variables}
        sessions = {"AUTHSERVICE_API_URL": _origin(first), "AUTHSERVICE_LOGIN": "session"}
        cookies = {"AUTHSERVICE_CSRF": "1", "AUTHSERVICE_COOKIES": "1"}
        stateless = {"AUTHSERVICE_API_URL": _origin(second), **cookies}
        uvicorn = [*UVICORN, "--host", "localhost", "--port", second]
        # `serve` migrates; the other server answers its first page without the database.
        with (
            run(*SERVE, log=log, **given, **sessions),
            run(*uvicorn, log=log, **given, **stateless),
        ):
            for port in (first, second):
                wait_for(partial(visit, f"{_origin(port)}/"), log)
            yield _origin(first), _origin(second)


def _origin(port: str) -> str:
    return f"http://localhost:{port}"


def visit(url: str) -> None:
    urlopen(url).close()


def run(*command: str, log: Path, **variables: str) -> AbstractContextManager[object]:
    given = environment(DJANGO_SETTINGS_MODULE="example_project.settings", **variables)
    return started(*command, log=log, variables=given)


@contextmanager
def provider(port: int, folder: Path) -> Iterator[str]:
    """Start the OpenID provider of the example project; yields its issuer."""
    log = folder / "provider.log"
    with run("example_project/manage.py", "provider", "--port", str(port), log=log):
        issuer = f"http://localhost:{port}"
        wait_for(partial(visit, f"{issuer}/.well-known/openid-configuration"), log)
        yield issuer


class Profile:
    """One profile of a browser, with the page of the console at `origin`."""

    def __init__(self, browser, origin, size):
        self.browser = browser
        self.origin = origin
        width, height, mobile = SIZES[size]
        metrics = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get("about:blank")
        # Without cookies nobody is signed in: they outlive the page, and a host has one set for all
        # its ports.
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.complaints()  # those of the page before
        self.open(f"/?mailbox={KEY}")

    def open(self, path):
        self.browser.get(self.origin + path)

    def until(self, condition):
        return WebDriverWait(self.browser, 10, 0.05).until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def send(self, form, **fields):
        """Fill a form, send it with Enter or its button, and return the result that it shows."""
        for name, value in fields.items():
            field = self.find(f"#{form} [name={name}]")
            if field.tag_name == "input":
                field.clear()
            field.send_keys(value)
        before = self.log_length()
        result = self.find(f"#{form} .result")
        self.browser.execute_script("arguments[0].textContent = ''", result)
        self.find(f"#{form} button").click()
        self.until(lambda: self.log_length() > before and result.get_property("textContent"))
        return result.get_property("textContent")

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def is_signed_in_as(self, address):
        self.until(lambda: self.text("#who") == f"Signed in as {address}")

    def log_out(self):
        self.find("#logout button").click()
        self.until(lambda: self.text("#banner") == "Logged out.")
        assert self.text("#who") == "Signed out"

    def type(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def focused(self):
        return self.browser.switch_to.active_element.text

    def log_length(self):
        return len(self.browser.find_elements(By.CSS_SELECTOR, "#log > li"))

    def command(self, call):
        """The newest command in the log for a call, such as "GET /auth/me"."""
        for entry in self.browser.find_elements(By.CSS_SELECTOR, "#log > li"):
            if entry.find_element(By.CSS_SELECTOR, "[data-text=call]").text == call:
                return entry.find_element(By.CSS_SELECTOR, "pre").get_property("textContent")
        raise AssertionError(f"{call} is not in the log")

    def mailed(self, to, part):
        """The newest link with `part` in its address in the mails to an address."""

        def found():
            mails = self.browser.find_elements(By.CSS_SELECTOR, "#mailbox > li")
            own = [mail for mail in mails if to in mail.get_property("textContent")]
            links = [link for mail in own for link in mail.find_elements(By.TAG_NAME, "a")]
            return [link for link in links if part in link.get_attribute("href")]

        return self.until(found)[0]

    def follow(self, to, part):
        """Click on a mailed link, and continue in the tab that it opens."""
        link = self.mailed(to, part)
        mail = link.find_element(By.XPATH, "ancestor::details")
        if not mail.get_property("open"):
            mail.find_element(By.TAG_NAME, "summary").click()
        self.tab = self.browser.current_window_handle
        tabs = set(self.browser.window_handles)
        link.click()
        self.until(lambda: set(self.browser.window_handles) - tabs)
        [tab] = set(self.browser.window_handles) - tabs
        self.browser.switch_to.window(tab)

    def back(self):
        """Close the tab, and continue in the one before."""
        self.browser.close()
        self.browser.switch_to.window(self.tab)

    def is_as_wide_as_the_screen(self):
        return self.browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    def complaints(self):
        """Errors in the console of the browser, and requests to other hosts."""
        elsewhere = [
            url
            for url in requested(self.browser)
            if not url.startswith((self.origin, "data:", "about:", "chrome"))
        ]
        return [*console_errors(self.browser), *elsewhere]
