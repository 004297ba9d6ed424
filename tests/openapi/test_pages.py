"""Swagger UI and ReDoc in a real Chromium: they come up, and nothing comes from elsewhere."""

import time
from dataclasses import dataclass

import pytest

from tests.browser import chromium, complaints, needs_chromium, requested
from tests.serving import served

pytestmark = needs_chromium

PATIENCE = 20  # seconds
# What each page shows once it has read the description.
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
    """Wait until a page is all there."""
    end = time.monotonic() + PATIENCE
    while not browser.execute_script(SHOWN[page]):
        assert time.monotonic() < end, complaints(browser)
        time.sleep(0.1)


@dataclass
class Visit:
    """The addresses that a page made the browser ask for, and what the browser complained of."""

    asked: list[str]
    complaints: list[str]


@pytest.fixture(scope="module", params=list(SHOWN))
def visit(request, browser, base):
    requested(browser), complaints(browser)
    browser.get(base + request.param)
    shown(browser, request.param)
    time.sleep(0.5)  # for what a page asks last, such as a badge of its makers
    asked = [address for address in requested(browser) if address.startswith("http")]
    return Visit(asked, complaints(browser))


def test_a_page_shows_the_routes_and_the_browser_has_nothing_to_complain_of(visit):
    assert visit.complaints == []


def test_a_page_loads_nothing_from_another_host(visit, base):
    assert len(visit.asked) > 2
    assert [address for address in visit.asked if not address.startswith(base)] == []


def test_a_page_reads_the_description_of_its_own_mount(visit, base):
    assert base + "openapi.json" in visit.asked


def test_an_operation_is_tried_out_where_the_service_is(browser, base):
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
    while base + ".well-known/jwks.json" not in (asked := requested(browser)):
        assert time.monotonic() < end, asked
        time.sleep(0.1)
