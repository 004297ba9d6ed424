"""A mail scanner opens a link in one real Chromium, then the user clicks it in another."""

from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.messages import compose
from authservice.core.models import Session
from tests.magiclink.magic import ANN, KIND
from tests.support.browser import chromium, fetch, lent, needs_chromium, pages
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import make_user

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

HEADLESS = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0"
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
FRONT = "<p>front end</p>"


@pytest.fixture(scope="module")
def browsers(shared_chromium, tmp_path_factory):
    """Two browsers that share nothing: the scanner's and the user's."""
    with (
        chromium(tmp_path_factory.mktemp("scanner")) as scanner_browser,
        lent(shared_chromium) as user_browser,
    ):
        yield scanner_browser, user_browser


@pytest.fixture
def front_end():
    """The front end on another origin, to which the link redirects."""
    with pages({"/signed-in": FRONT, "/": FRONT}, host="localhost") as origin:
        yield origin


@pytest.fixture
def service(browsers, live_server, configure, front_end):
    url = live_server.url.replace("localhost", "127.0.0.1")
    configure(
        API_URL=url,
        MAGICLINK={"CONFIRM": "auto", "CALLBACK_URL": f"{front_end}/signed-in"},
    )
    for browser in browsers:
        browser.get(f"{url}/auth/nowhere")
        browser.delete_all_cookies()
    make_user()
    prove()
    return url


@pytest.fixture
def link(service, post):
    """The link in Ann's e-mail, requested in neither of the two browsers."""
    return ask(service, post)


def ask(service, post):
    body = b'{"email": "%b"}' % ANN.encode()
    asked = Request(f"{service}/auth/magic-link/send", body, {"Content-Type": "application/json"})
    assert urlopen(asked).status == 200
    return newest(post)


def newest(post):
    [*_, job] = [job for job in post.jobs if job.kind == KIND]
    return compose.compose(job).context["link"].reveal()


def sessions():
    return Session.objects.filter(amr="email")


def open_link(link, method="GET", **headers):
    request = Request(link, method=method, headers={"User-Agent": HEADLESS, "Accept": ACCEPT})
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    return urlopen(request)


def scan(link, scanner_browser):
    """Requests a link as scanners do: by HEAD, by a prefetch, and twice in a real browser."""
    open_link(link, "HEAD")
    with pytest.raises(HTTPError, match="503") as refused:
        open_link(link, Sec_Purpose="prefetch;prerender")
    refused.value.close()
    seen = [open_link(link).read().decode()]
    for _ in range(2):
        scanner_browser.get(link)
        seen.append(scanner_browser.page_source)
    assert scanner_browser.current_url == link
    return seen


def wait_for_redirect(browser, front_end):
    WebDriverWait(browser, 10, 0.05).until(lambda _: browser.current_url.startswith(front_end))
    return browser.current_url


def test_scanner_gets_no_token_and_the_user_can_still_log_in(browsers, service, front_end, link):
    scanner_browser, user_browser = browsers
    seen = scan(link, scanner_browser)
    assert not any("access_token" in page for page in seen)
    assert not sessions().exists()

    user_browser.get(link)
    assert not sessions().exists()
    user_browser.find_element(By.TAG_NAME, "button").click()

    url = wait_for_redirect(user_browser, front_end)
    assert url.startswith(f"{front_end}/signed-in#access_token=")
    assert "HeadlessChrome" in sessions().get().user_agent
    token = url.partition("access_token=")[2].partition("&")[0]
    me = Request(f"{service}/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert ANN in urlopen(me).read().decode()


def test_button_clicked_in_two_tabs_logs_in_once(browsers, service, front_end, link):
    _, user_browser = browsers
    first = user_browser.current_window_handle
    user_browser.get(link)
    user_browser.switch_to.new_window("tab")
    user_browser.get(link)
    user_browser.find_element(By.TAG_NAME, "button").click()
    wait_for_redirect(user_browser, front_end)
    user_browser.close()

    user_browser.switch_to.window(first)
    user_browser.find_element(By.TAG_NAME, "button").click()

    assert "#error=INVALID_TOKEN" in wait_for_redirect(user_browser, front_end)
    assert sessions().count() == 1


def test_browser_that_requested_the_link_needs_no_confirmation(browsers, service, front_end, post):
    _, user_browser = browsers
    user_browser.get(f"{service}/auth/nowhere")
    answer = fetch(
        user_browser,
        f"{service}/auth/magic-link/send",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=f'{{"email": "{ANN}"}}',
    )
    assert answer["status"] == 200

    user_browser.get(newest(post))

    assert wait_for_redirect(user_browser, front_end).startswith(
        f"{front_end}/signed-in#access_token="
    )
    assert sessions().count() == 1


def test_front_end_gets_no_referrer(browsers, service, front_end, link):
    _, user_browser = browsers
    user_browser.get(link)
    user_browser.find_element(By.TAG_NAME, "button").click()
    wait_for_redirect(user_browser, front_end)

    assert user_browser.execute_script("return document.referrer") == ""


def test_login_by_password_and_by_link_are_two_sessions(browsers, service, front_end, link, api):
    _, user_browser = browsers
    api.log_in(password=PASSWORD)
    user_browser.get(link)
    user_browser.find_element(By.TAG_NAME, "button").click()
    wait_for_redirect(user_browser, front_end)

    assert Session.objects.filter(ended_at=None).count() == 2


def test_form_of_another_site_without_confirmation_logs_nobody_in(
    browsers, service, front_end, link, configure
):
    _, user_browser = browsers
    configure(MAGICLINK={"CONFIRM": "off", "CALLBACK_URL": f"{front_end}/signed-in"})
    token = link.partition("token=")[2]
    form = (
        f'<form method="post" action="{service}/auth/magic-link/verify">'
        f'<input name="token" value="{token}"></form><script>document.forms[0].submit()</script>'
    )

    with pages({"/": form}, host="localhost") as evil:
        user_browser.get(evil)
        WebDriverWait(user_browser, 10, 0.05).until(
            lambda _: user_browser.current_url.startswith(service)
        )

    assert user_browser.find_elements(By.TAG_NAME, "button")
    assert not sessions().exists()
