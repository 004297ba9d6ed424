import pytest
from django.apps import apps

from tests.support.axe import violations
from tests.support.browser import chromium

# These tests need a host with style sheets: `test_accessibility.py` one folder above runs them.
collect_ignore_glob = [] if apps.is_installed("django.contrib.staticfiles") else ["test_*.py"]

SIZES = {"phone": (360, 740, True), "desktop": (1280, 900, False)}


# Not of the whole run: its connections must be closed before the live server stops.
@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("reader")) as browser:
        yield browser


@pytest.fixture
def found(browser):
    """`found(url, "phone", ["dark"])` opens a page and lists its violations."""

    def find(url, size="desktop", schemes=("light", "dark"), known=None):
        width, height, mobile = SIZES[size]
        metrics = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(url)
        assert browser.current_url == url
        wrong = []
        for scheme in schemes:
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            wrong += [f"{scheme}: {one}" for one in violations(browser, known=known)]
        return wrong

    return find
