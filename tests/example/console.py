"""The console of the example project under a real server, and its user in a real Chromium."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.hosts.runs import ROOT
from tests.hosts.servers import own_database
from tests.notification.servers import free_port
from tests.support.browser import console_errors, requested

PASSWORD = "plum tart 42 windows"
# Width and height in CSS pixels, and whether it is a phone.
SIZES = {"phone": (390, 844, True), "desktop": (1280, 900, False)}


@contextmanager
def console(folder: Path, **variables: str) -> Iterator[str]:
    """Start the example project by `manage.py serve`, with a new database; yields its origin."""
    port = free_port()
    origin = f"http://localhost:{port}"
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "AUTHSERVICE", "DJANGO_"))
    }
    with own_database("console", folder) as url, (folder / "server.log").open("w") as log:
        running = subprocess.Popen(
            [sys.executable, "example_project/manage.py", "serve", "-v", "0"],
            cwd=ROOT,
            env={
                **kept,
                "AUTHSERVICE_API_URL": origin,
                "AUTHSERVICE_MAILBOX": str(folder / "mailbox"),
                "DATABASE_URL": url,
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            wait_for(origin, folder / "server.log")
            yield origin
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.wait()


def wait_for(origin: str, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            urlopen(f"{origin}/").close()
        except URLError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


class Profile:
    """One profile of a browser, with the page of the console at `origin`."""

    def __init__(self, browser, origin, size):
        self.browser = browser
        self.origin = origin
        width, height, mobile = SIZES[size]
        metrics = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.open("/")

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
        tabs = set(self.browser.window_handles)
        link.click()
        self.until(lambda: set(self.browser.window_handles) - tabs)
        [tab] = set(self.browser.window_handles) - tabs
        self.browser.switch_to.window(tab)

    def back(self):
        """Close the tab, and continue in the first one."""
        self.browser.close()
        self.browser.switch_to.window(self.browser.window_handles[0])

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
