"""A scanner of mail is at the link first, in a real Chromium; then its reader clicks in another."""

from urllib.request import Request, urlopen

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.messages import compose
from authservice.core.models import Session
from tests.browser import chromium, fetch, needs_chromium, pages
from tests.client import PASSWORD
from tests.magiclink.magic import ANN, KIND
from tests.people import make_user
from tests.recovery.flows import prove

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

HEADLESS = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0"
LOOKS = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
FRONT = "<p>front end</p>"


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    """Two that share nothing: the scanner's and the reader's."""
    with (
        chromium(tmp_path_factory.mktemp("scanner")) as scanner,
        chromium(tmp_path_factory.mktemp("reader")) as reader,
    ):
        yield scanner, reader


@pytest.fixture
def front_end():
    """Another origin, to which the link leads on."""
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
    """What Ann finds in her mail, asked for in no browser of the two."""
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


def look(link, method="GET", **headers):
    request = Request(link, method=method, headers={"User-Agent": HEADLESS, "Accept": LOOKS})
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    return urlopen(request)


def scan(link, scanner):
    """What scanners do: ask with HEAD, fetch ahead, and open it twice, once in a true browser."""
    look(link, "HEAD")
    look(link, Sec_Purpose="prefetch;prerender")
    seen = [look(link).read().decode()]
    for _ in range(2):
        scanner.get(link)
        seen.append(scanner.page_source)
    assert scanner.current_url == link
    return seen


def land(browser, front_end):
    WebDriverWait(browser, 10).until(lambda _: browser.current_url.startswith(front_end))
    return browser.current_url


def test_a_scanner_gets_no_token_and_its_reader_gets_in(browsers, service, front_end, link):
    scanner, reader = browsers
    seen = scan(link, scanner)
    assert not any("access_token" in page for page in seen)
    assert not sessions().exists()

    reader.get(link)
    assert not sessions().exists()
    reader.find_element(By.TAG_NAME, "button").click()

    url = land(reader, front_end)
    assert url.startswith(f"{front_end}/signed-in#access_token=")
    assert "HeadlessChrome" in sessions().get().user_agent
    token = url.partition("access_token=")[2].partition("&")[0]
    me = Request(f"{service}/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert ANN in urlopen(me).read().decode()


def test_the_button_pushed_twice_signs_in_once(browsers, service, front_end, link):
    _, reader = browsers
    reader.get(link)
    reader.find_element(By.TAG_NAME, "button").click()
    land(reader, front_end)
    reader.get("about:blank")

    reader.get(link)
    reader.find_element(By.TAG_NAME, "button").click()

    assert "#error=INVALID_TOKEN" in land(reader, front_end)
    assert sessions().count() == 1


def test_the_browser_that_asked_goes_straight_through(browsers, service, front_end, post):
    _, reader = browsers
    reader.get(f"{service}/auth/nowhere")
    answer = fetch(
        reader,
        f"{service}/auth/magic-link/send",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=f'{{"email": "{ANN}"}}',
    )
    assert answer["status"] == 200

    reader.get(newest(post))

    assert land(reader, front_end).startswith(f"{front_end}/signed-in#access_token=")
    assert sessions().count() == 1


def test_the_front_end_is_told_nothing_but_its_own_address(browsers, service, front_end, link):
    _, reader = browsers
    reader.get(link)
    reader.find_element(By.TAG_NAME, "button").click()
    land(reader, front_end)

    assert reader.execute_script("return document.referrer") == ""


def test_a_password_and_a_link_are_two_sign_ins(browsers, service, front_end, link, api):
    _, reader = browsers
    api.log_in(password=PASSWORD)
    reader.get(link)
    reader.find_element(By.TAG_NAME, "button").click()
    land(reader, front_end)

    assert Session.objects.filter(ended_at=None).count() == 2


def test_a_form_of_another_site_logs_nobody_in(browsers, service, front_end, link, configure):
    _, reader = browsers
    configure(MAGICLINK={"CONFIRM": "off", "CALLBACK_URL": f"{front_end}/signed-in"})
    token = link.partition("token=")[2]
    form = (
        f'<form method="post" action="{service}/auth/magic-link/verify">'
        f'<input name="token" value="{token}"></form><script>document.forms[0].submit()</script>'
    )

    with pages({"/": form}, host="localhost") as evil:
        reader.get(evil)
        WebDriverWait(reader, 10).until(lambda _: reader.current_url.startswith(service))

    assert reader.find_elements(By.TAG_NAME, "button")
    assert not sessions().exists()
