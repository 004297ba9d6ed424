"""A real Chromium for tests, and servers for pages of other origins.

    with chromium(tmp_path) as browser, pages({"/": "<form …>"}) as elsewhere:
        browser.get(elsewhere + "/")

Chromium and chromedriver are Debian's (`chromium`, `chromium-driver`); nothing is downloaded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tests.support.serving import running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
_SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
)
_WAIT = 20

# By plain http to a host that is not local, browsers send no Sec-Fetch headers.
SHARED = "--host-resolver-rules=MAP *.example.test 127.0.0.1"

needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="chromium and chromium-driver are not installed"
)


@contextmanager
def chromium(folder: Path, *switches: str) -> Iterator[webdriver.Chrome]:
    """A browser with an empty profile, which lives in `folder`. `switches` are added to its
    command line."""
    options = Options()
    options.binary_location = str(CHROMIUM)
    for switch in (*_SWITCHES, *switches, f"--user-data-dir={folder / 'chromium'}"):
        options.add_argument(switch)
    # Otherwise Selenium dismisses `alert()` and similar dialogs, and a test would not notice them.
    options.unhandled_prompt_behavior = "ignore"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    browser.set_page_load_timeout(_WAIT)
    browser.set_script_timeout(_WAIT)
    try:
        yield browser
    finally:
        browser.quit()


@contextmanager
def lent(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The browser that tests of a worker share, without what earlier ones left in its profile. No
    page stays open, which could still make requests."""
    browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    everything = {"origin": "*", "storageTypes": "all"}
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
    requested(browser), console_errors(browser)
    try:
        yield browser
    finally:
        [first, *others] = browser.window_handles
        for window in others:
            browser.switch_to.window(window)
            browser.close()
        browser.switch_to.window(first)
        browser.get("about:blank")


def requested(browser: webdriver.Chrome) -> list[str]:
    """Every URL that the browser requested since the last call, with or without a response."""
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"] for one in entries if one["method"] == "Network.requestWillBeSent"]
    return [one["request"]["url"] for one in sent]


def console_errors(browser: webdriver.Chrome) -> list[str]:
    """The errors that the browser wrote to its console since the last call."""
    return [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"]


_FETCH = """
const [url, options, done] = arguments;
fetch(url, options)
    .then(async answer => done({
        status: answer.status,
        type: answer.type,
        text: await answer.text(),
    }))
    .catch(wrong => done({status: 0, type: "error", text: String(wrong)}));
"""


def fetch(browser: webdriver.Chrome, url: str, **options: Any) -> dict[str, Any]:
    """What a script of the current page receives: `status` (0 if CORS hides it) and `text`."""
    return browser.execute_async_script(_FETCH, url, options)


@contextmanager
def pages(
    of: Mapping[str, str], *, host: str = "127.0.0.1", headers: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Serve HTML pages by path on a free port of a loopback host; yields the origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = of.get(self.path.partition("?")[0])
            body = (page or "").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with running(server):
        yield f"http://{host}:{server.server_port}"
