"""The tutorial docs/start.rst, block by block, from an empty folder to its page in Chromium."""

import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.snippets.blocks import of_page
from tests.support.browser import chromium, console_errors, needs_chromium
from tests.wheel.projects import call
from tests.wheel.tutorial import Reader

# All tests share the environment with the wheel, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel"), needs_chromium]


@pytest.fixture(scope="module")
def reader(programs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("start") / "shop"
    folder.mkdir()
    reader = Reader(folder, programs)
    with reader.stopped_afterwards():
        yield reader


@pytest.fixture(scope="module")
def outputs(reader):
    """What the commands print, next to what the page says that they print."""
    printed, pairs, commands = [], [], None
    for block in of_page("docs/start.rst"):
        if block.language == "text":
            # The page runs the command that it shows last a second time for a second answer.
            pairs.append((block.code, printed.pop() if printed else reader.follow(commands)))
            continue
        if "/orders;" in block.code:
            reader.wait_for_status("/orders", 401)
        output = reader.follow(block)
        if output and block.language == "sh":
            printed, commands = [output], block
    reader.wait_for_status("/", 200)
    return pairs


@pytest.fixture(scope="module")
def browser(outputs, tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def test_commands_print_what_the_page_says(outputs):
    for said, printed in outputs:
        pattern = ".*".join(map(re.escape, said.strip().split("…")))
        assert re.match(pattern, printed), printed


def test_mailed_link_and_page_lead_to_a_protected_view(reader, browser):
    def verify(link):
        browser.get(link)
        browser.find_element(By.XPATH, "//button[contains(., 'Confirm')]").click()
        WebDriverWait(browser, 20).until(
            lambda _: "Your e-mail address is confirmed" in browser.page_source
        )

    def log_in(password):
        browser.execute_script("document.querySelector('form').reset()")
        browser.find_element(By.NAME, "email").send_keys("ann@example.com")
        browser.find_element(By.NAME, "password").send_keys(password)
        browser.find_element(By.CSS_SELECTOR, "#login button").click()

    def shows(text):
        state = browser.find_element(By.ID, "state")
        WebDriverWait(browser, 20).until(lambda _: text in state.text, state.text)

    links = re.compile(r"^http\S*/verify-email\S*", re.MULTILINE)
    verify(reader.wait_for(lambda: links.search(reader.printed()))[0])
    browser.get(reader.url)
    log_in("a wrong password")
    shows("The credentials are not valid.")
    log_in("plum tart 42 windows")
    shows("Hello ann@example.com! Your address is verified.")
    token = browser.execute_script("return token")
    browser.find_element(By.ID, "orders").click()
    shows("You ordered: plum tart")
    browser.find_element(By.ID, "logout").click()
    shows("Logged out.")

    refused = ("/auth/login", "/favicon.ico")  # the wrong password, and an icon without a page
    assert [one for one in console_errors(browser) if not any(map(one.__contains__, refused))] == []
    assert call("GET", f"{reader.url}/orders", token=token)[1]["code"] == "INVALID_TOKEN"
