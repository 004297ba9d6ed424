"""What other sites, other tabs and the history of a real browser can do with the pages."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.inside.test_sign_in import FOREIGN
from tests.pages.served.keyboard import Keyboard
from tests.pages.served.projects import Run, served
from tests.support.browser import fetch, needs_chromium, pages, requested

# All tests share the started project, so one worker runs them.
pytestmark = [pytest.mark.slow, needs_chromium, pytest.mark.xdist_group("pages attacked")]

ANN, BOB = "ann@example.com", "bob@example.com"
SECRET = "plum tart 42 windows"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with served(Run(login="session"), tmp_path_factory.mktemp("attacked")) as site:
        yield site


@pytest.fixture(scope="module")
def _people(browser, site):
    for email in (ANN, BOB):
        person = Keyboard(browser, site)
        person.open("/auth/signup")
        person.press(email=email, new_password=SECRET)


@pytest.fixture
def person(browser, site, _people):
    """Nobody is signed in yet."""
    return Keyboard(browser, site)


@pytest.fixture
def ann(person):
    sign_in(person, ANN)
    return person


def sign_in(person, email):
    person.open("/auth/login?again=1")
    person.enter(username=email, current_password=SECRET)
    assert person.path.startswith("/auth/account/")


def whoami(person):
    person.open("/")
    found = person.browser.find_elements(By.ID, "user")
    return found[0].text if found else ""


def test_history_shows_nothing_after_sign_out(ann):
    ann.open("/orders")
    for path in ("security", "activity", "profile"):
        ann.open(f"/auth/account/{path}")
    ann.sign_out()

    for _ in range(5):
        ann.browser.back()
        assert ANN not in ann.browser.page_source
        assert ann.path in ("/auth/login", "/auth/logout"), ann.text


def test_history_shows_no_secret_of_the_second_factor(ann):
    ann.open("/auth/account/security/factor")
    ann.press(current_password=SECRET)
    secret = ann.one("p > code").text
    ann.open("/auth/account/profile")

    ann.browser.back()

    assert secret not in ann.browser.page_source


def test_prefetched_links_change_nothing(ann):
    """Each link of the account, as browsers and extensions load links in advance."""
    addresses = ["/auth/logout"]
    for section in ann.links("/auth/account/"):
        ann.open(section)
        addresses += ann.links("/auth/")
    mails = ann.site.links()
    ann.open("/")
    requested(ann.browser)
    script = """
    for (const href of arguments[0]) {
        const link = document.createElement("link");
        document.head.append(Object.assign(link, {rel: "prefetch", href}));
    }
    """
    wanted = set(addresses)

    ann.browser.execute_script(script, sorted(wanted))

    fetched = []
    WebDriverWait(ann.browser, 20).until(
        lambda browser: fetched.extend(requested(browser)) or len(set(fetched)) >= len(wanted)
    )
    assert whoami(ann) == ANN
    assert ann.site.links() == mails
    assert len(wanted) > 10


def test_form_of_an_account_does_not_change_another(ann):
    """A form in one tab, after another user signed in with the other tab."""
    first = ann.browser.current_window_handle
    ann.open("/auth/account/profile/name")
    ann.browser.switch_to.new_window("tab")
    ann.browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    sign_in(ann, BOB)
    second = ann.browser.current_window_handle
    ann.browser.switch_to.window(first)

    ann.fill(name="Name of Ann")
    ann.press()

    assert ann.one("[role=alert]").text
    ann.open("/auth/account/profile")
    assert BOB in ann.text
    assert "Name of Ann" not in ann.text
    ann.browser.switch_to.window(second)
    ann.browser.close()
    ann.browser.switch_to.window(first)


@pytest.mark.parametrize("path", ["/auth/login", "/auth/account/security", "/auth/logout"])
def test_page_in_a_frame_is_not_shown(path, ann):
    frame = f'<iframe src="{ann.site.url}{path}"></iframe>'
    for host in ("localhost", "127.0.0.1"):
        with pages({"/": frame}, host=host) as origin:
            ann.browser.get(origin)
            ann.browser.switch_to.frame(0)
            shown = ann.browser.execute_script("return location.href")
            assert shown == "chrome-error://chromewebdata/"
            ann.browser.switch_to.default_content()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_page_of_another_origin_signs_nobody_in_or_out(host, person):
    """Login CSRF: what the visitor enters afterwards would be in the account of the attacker."""
    fields = {"identifier": BOB, "password": SECRET, "next": "/orders"}
    inputs = "".join(f'<input name="{name}" value="{text}">' for name, text in fields.items())
    page = (
        '<form method="post" action="{url}">' + inputs + "</form><script>onload = () =>"
        " setTimeout(() => document.forms[0].submit(), 100)</script>"
    )
    forms = {
        f"/{place}": page.format(url=f"{person.site.url}/auth/{path}")
        for place, path in enumerate(("login", "logout", "account/profile/delete"))
    }
    with pages(forms, host=host) as origin:
        for user in ("", ANN):
            if user:
                sign_in(person, ANN)
            for path in forms:
                person.browser.get(origin + path)
                WebDriverWait(person.browser, 20).until(
                    lambda browser: browser.current_url.startswith(person.site.url)
                )
                assert BOB not in person.browser.page_source
                assert whoami(person) == user


def test_script_of_another_origin_reads_no_page(ann):
    with pages({"/": "<p>"}, host="127.0.0.1") as origin:
        ann.browser.get(origin)
        read = fetch(ann.browser, f"{ann.site.url}/auth/account/profile", credentials="include")

    assert read["status"] == 0


def test_browser_does_not_leave_for_a_next_page(ann):
    """A user who is signed in is led there at once."""
    left = []
    for url in FOREIGN:
        ann.browser.get(f"{ann.site.url}/auth/login?{urlencode({'next': url})}")
        if not ann.browser.current_url.startswith(f"{ann.site.url}/"):
            left.append(url)

    assert left == []
