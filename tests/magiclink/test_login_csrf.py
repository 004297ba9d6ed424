"""With tokens in cookies, no script or form of another origin logs its visitors in to another
account (login CSRF)."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.models import Session
from tests.magiclink.test_confirm import is_page
from tests.support.browser import fetch, lent, needs_chromium, pages
from tests.support.mounted import mounted

API, FRONT, TRUSTED = (
    "http://api.example.com",
    "https://app.example.com",
    "https://tool.example.com",
)
TOKENS = {"authservice_access", "authservice_refresh"}
SCRIPT = {"Accept": "*/*", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}


@pytest.fixture(autouse=True, scope="module")
def _csrf(_magic_links):
    with mounted("authservice.csrf"):
        yield


@pytest.fixture
def in_cookies(configure):
    """A host with tokens in cookies; `in_cookies(CONFIRM="off")` sets keys of MAGICLINK."""

    def change(**magiclink):
        configure(
            API_URL=API,
            COOKIES={"ENABLED": True},
            FRONTEND={"URL": f"{FRONT}/"},
            CSRF={"TRUSTED_ORIGINS": [TRUSTED]},
            MAGICLINK=magiclink,
        )

    change(CONFIRM="auto")
    return change


@pytest.mark.django_db
class TestScripts:
    @pytest.fixture(autouse=True)
    def _ann(self, in_cookies, ann):
        self.before = Session.objects.count()

    def is_refused(self, answer):
        assert is_page(answer)
        assert answer.response.cookies == {}
        assert Session.objects.count() == self.before
        return True

    @pytest.mark.parametrize("confirm", ["auto", "off"])
    @pytest.mark.parametrize(
        "origin",
        ["https://evil.example", "null", "http://api.example.com:81", "https://api.example.com"],
    )
    def test_script_of_another_origin_logs_nobody_in(self, magic, in_cookies, origin, confirm):
        in_cookies(CONFIRM=confirm)
        pair = magic.mailed()

        assert self.is_refused(magic.follow(pair.token, Origin=origin))  # by http
        headers = {**SCRIPT, "Sec-Fetch-Site": "same-site", "Origin": origin}
        assert self.is_refused(magic.follow(pair.token, **headers))
        assert magic.follow(pair.token).status == 200

    @pytest.mark.parametrize("site", ["same-site", "cross-site"])
    def test_script_of_another_site_without_an_origin_logs_nobody_in(self, magic, site):
        token = magic.mailed().token

        assert self.is_refused(magic.follow(token, **SCRIPT, **{"Sec-Fetch-Site": site}))

    def test_browser_that_requested_a_link_is_not_logged_in_by_a_script(self, magic):
        cookie = magic.ask().response.cookies["authservice_magiclink"]
        token = magic.mailed().token
        headers = {"Origin": "https://evil.example", "Cookie": f"{cookie.key}={cookie.value}"}

        assert self.is_refused(magic.follow(token, **headers))

    @pytest.mark.parametrize("origin", [API, FRONT, TRUSTED, "http://testserver"])
    def test_script_of_a_trusted_origin_logs_in(self, magic, origin):
        headers = {**SCRIPT, "Sec-Fetch-Site": "same-site", "Origin": origin}

        assert set(magic.follow(magic.mailed().token, **headers).response.cookies) >= TOKENS

    @pytest.mark.parametrize("site", ["same-origin", "none"])
    def test_script_of_the_service_itself_logs_in(self, magic, site):
        headers = {**SCRIPT, "Sec-Fetch-Site": site}

        assert set(magic.follow(magic.mailed().token, **headers).response.cookies) >= TOKENS

    def test_script_of_another_origin_without_token_cookies_gets_the_tokens(self, magic, configure):
        configure(COOKIES={"ENABLED": False})
        headers = {**SCRIPT, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}

        assert "access_token" in magic.follow(magic.mailed().token, **headers).data


@pytest.fixture(scope="module")
def browser(shared_chromium):
    with lent(shared_chromium) as browser:
        yield browser


def tokens(browser):
    return TOKENS & {cookie["name"] for cookie in browser.get_cookies()}


@needs_chromium
@pytest.mark.django_db(transaction=True)
class TestChromium:
    @pytest.fixture
    def service(self, live_server, settings, configure, browser):
        """`service(host)` is the service at that name, with tokens in cookies."""
        settings.ALLOWED_HOSTS = ["*"]
        port = live_server.url.rpartition(":")[2]

        def at(host):
            configure(API_URL=f"http://{host}:{port}", COOKIES={"ENABLED": True})
            browser.get(f"http://{host}:{port}/auth/csrf-token")
            browser.delete_all_cookies()
            return f"http://{host}:{port}"

        return at

    @pytest.mark.parametrize(
        ("host", "mode"),
        [("127.0.0.1", "cors"), ("127.0.0.1", "no-cors"), ("api.example.test", "cors")],
    )
    def test_page_on_another_port_fetches_a_link_and_logs_nobody_in(
        self, service, browser, magic, ann, host, mode
    ):
        link = f"{service(host)}/auth/magic-link/verify?token={magic.mailed().token}"
        before = Session.objects.count()

        with pages({"/": "<p>evil</p>"}, host=host) as evil:
            browser.get(evil)
            fetch(browser, link, mode=mode, credentials="include")
            assert tokens(browser) == set()

        assert Session.objects.count() == before

    @pytest.mark.parametrize("host", ["127.0.0.1", "api.example.test"])
    @pytest.mark.parametrize("policy", ["no-referrer", "unsafe-url"])
    def test_form_of_another_site_logs_nobody_in(self, service, browser, magic, ann, host, policy):
        url, token = service(host), magic.mailed().token
        before = Session.objects.count()
        form = (
            f"<meta name=referrer content={policy}>"
            f'<form method="post" action="{url}/auth/magic-link/verify">'
            f'<input name="token" value="{token}"></form>'
            "<script>document.forms[0].submit()</script>"
        )

        with pages({"/": form}, host="localhost") as evil:
            browser.get(evil)
            WebDriverWait(browser, 10, 0.05).until(lambda _: browser.current_url.startswith(url))

        assert browser.find_elements(By.TAG_NAME, "button")
        assert tokens(browser) == set()
        assert Session.objects.count() == before

    @pytest.mark.parametrize("host", ["127.0.0.1", "api.example.test"])
    def test_button_of_the_page_logs_in(self, service, browser, magic, ann, host):
        url, token = service(host), magic.mailed().token
        browser.get(f"{url}/auth/magic-link/verify?token={token}")
        assert tokens(browser) == set()

        browser.find_element(By.TAG_NAME, "button").click()

        WebDriverWait(browser, 10, 0.05).until(lambda _: tokens(browser) == TOKENS)
