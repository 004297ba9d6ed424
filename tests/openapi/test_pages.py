"""Swagger UI and ReDoc in a real Chromium: they render, and load nothing from other hosts."""

import time
from dataclasses import dataclass

import pytest

from tests.support.browser import chromium, console_errors, needs_chromium, requested
from tests.support.serving import served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("openapi pages"), needs_chromium]

PATIENCE = 20  # seconds
# Becomes true once a page shows the description.
SHOWN = {
    "docs": "return document.querySelectorAll('.opblock').length > 10",
    "redoc": "return document.querySelectorAll('[data-section-id] h2').length > 10",
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module", params=["", "/app"], ids=["root", "below a path"])
def base(request):
    with served(request.param) as base:
        yield base


def shown(browser, page):
    """Wait until a page is rendered completely."""
    end = time.monotonic() + PATIENCE
    while not browser.execute_script(SHOWN[page]):
        assert time.monotonic() < end, console_errors(browser)
        time.sleep(0.1)


@dataclass
class Visit:
    """The URLs that a page requested, and the errors of the browser console."""

    requests: list[str]
    console_errors: list[str]


@pytest.fixture(scope="module", params=list(SHOWN))
def visit(request, browser, base):
    requested(browser), console_errors(browser)
    browser.get(base + request.param)
    shown(browser, request.param)
    time.sleep(0.5)  # for late requests of a page, such as a badge of its authors
    requests = [address for address in requested(browser) if address.startswith("http")]
    return Visit(requests, console_errors(browser))


def test_openapi_page_shows_routes_without_browser_errors(visit):
    assert visit.console_errors == []


def test_openapi_page_loads_nothing_from_other_hosts(visit, base):
    assert len(visit.requests) > 2
    assert [address for address in visit.requests if not address.startswith(base)] == []


def test_openapi_page_reads_the_description_of_its_mount(visit, base):
    assert base + "openapi.json" in visit.requests


def test_swagger_ui_sends_operation_to_its_mount(browser, base):
    browser.get(base + "docs")
    shown(browser, "docs")
    requested(browser)

    browser.execute_script(
        """
        const operation = document.querySelector("[id$='getJwks']");
        const click = (where, then) => setTimeout(() => {
            operation.querySelector(where).click();
            then && then();
        }, 300);
        click(".opblock-summary-control", () =>
            click(".try-out__btn", () => click(".execute")));
        """
    )

    end = time.monotonic() + PATIENCE
    while base + ".well-known/jwks.json" not in (requests := requested(browser)):
        assert time.monotonic() < end, requests
        time.sleep(0.1)
