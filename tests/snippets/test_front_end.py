"""The scripts of docs/front_end run in Chromium, on a page of another origin than the service."""

import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.template import Context, Engine
from django.test import override_settings
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.models import Session
from tests.snippets.blocks import of_page
from tests.support.browser import chromium, needs_chromium, pages
from tests.support.client import PASSWORD
from tests.support.key_pairs import entry, pair
from tests.support.mounted import mounted
from tests.twofactor.people import Person

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium, pytest.mark.slow]
ANN = "ann@example.com"
TABS = 4
# Waits until the module of the page runs, then for the promise.
RUN = """
const done = arguments[arguments.length - 1];
const ready = async (frame) => {
  while (!frame.logout) await new Promise((wait) => setTimeout(wait, 20));
  return frame;
};
const tab = async () => {
  const frame = document.createElement("iframe");
  frame.src = "/";
  document.body.append(frame);
  return ready(frame.contentWindow);
};
ready(window).then(async () => done(await %s)).catch((wrong) => done(String(wrong)));
"""
TOGETHER = f"""
Promise.all(Array.from({{ length: {TABS} }}, tab))
  .then((tabs) => Promise.all(tabs.map((tab) => tab.call("GET", "me"))))
  .then((answers) => answers.map((answer) => answer.status))
"""


def block(page, first):
    [code] = [one.code for one in of_page(f"docs/front_end/{page}.rst") if first in one.code]
    return code


def page(*modules, service):
    """A page with these modules as one script, whose functions others can call."""
    code = "\n".join(modules).replace("https://api.example.com/auth", f"{service}/auth")
    code = code.replace("export ", "").replace("import { answerChallenge, call, login } from", "//")
    further = [
        name for name in ("logIn", "currentUser", "answerChallenge") if f"function {name}(" in code
    ]
    functions = ["call", "login", "logout", *further]
    shown = f"Object.assign(window, {{ {', '.join(functions)} }});"
    return f"<!doctype html><body><script type=module>{code}\n{shown}</script>"


@pytest.fixture(scope="module")
def documented():
    """The settings of docs/front_end/cors.rst."""
    names = {"INSTALLED_APPS": [], "MIDDLEWARE": list(settings.MIDDLEWARE), "AUTHSERVICE": {}}
    exec(block("cors", "CORS_EXPOSE_HEADERS"), names)
    kept = {name: names[name] for name in names if name.startswith(("CORS_", "MIDDLEWARE"))}
    with override_settings(**kept):
        yield


@pytest.fixture(scope="module")
def server(documented, django_db_setup):
    """A server of its own, because a server loads the middleware at its start."""
    server = LiveServer("localhost")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser(server, tmp_path_factory):
    """Ends before the server, whose threads wait for its connections."""
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def service(server, configure):
    configure(API_URL=server.url)
    return server.url


@pytest.fixture
def opened(browser, service, configure, settings):
    """`opened(code…)` opens a page with these modules, and returns what runs its functions."""
    served = []

    def run(expression):
        return browser.execute_async_script(RUN % expression)

    def show(*modules):
        context = pages({"/": page(*modules, service=service)}, host="localhost")
        origin = context.__enter__()
        served.append(context)
        settings.CORS_ALLOWED_ORIGINS = [origin]
        configure(FRONTEND={"URL": origin})
        browser.get(origin)
        return run

    yield show
    for context in served:
        context.__exit__(None, None, None)


def test_tabs_with_bearer_tokens_refresh_once(opened, configure, api):
    Person(api).sign_up()
    run = opened(block("bearer", "// auth.js"))
    configure(ACCESS_TOKEN_TTL=timedelta(seconds=1))
    assert run(f"login('{ANN}', '{PASSWORD}').then((answer) => answer.status)") == "signed_in"
    session = Session.objects.latest("created_at")
    configure(ACCESS_TOKEN_TTL=timedelta(minutes=15))
    time.sleep(1.5)

    assert run(TOGETHER) == [200] * TABS

    session.refresh_from_db()
    assert session.counter == 1
    Session.objects.update(ended_at="2000-01-01T00:00:00Z")
    assert run("call('GET', 'me').then((answer) => answer.signedOut)") is True
    assert run("localStorage.getItem('tokens')") is None
    assert run("localStorage.getItem('device')")


@pytest.mark.parametrize("script", ["bearer", "cookies"])
@pytest.mark.parametrize("before", ["derived key", "removed key"])
def test_user_stays_signed_in_after_a_change_of_the_signing_key(
    opened, configure, api, script, before
):
    """With a removed key the answer is INVALID_TOKEN, otherwise TOKEN_EXPIRED."""
    old, new = pair("EdDSA")
    with mounted(*(["authservice.csrf"] if script == "cookies" else [])):
        Person(api).sign_up()
        configure(COOKIES={"ENABLED": script == "cookies"})
        configure(SIGNING_KEYS=[entry("EdDSA", old)] if before == "removed key" else [])
        run = opened(block(script, "// auth.js"))
        run(f"login('{ANN}', '{PASSWORD}')")

        configure(SIGNING_KEYS=[entry("EdDSA", new)])

        assert run(TOGETHER) == [200] * TABS
        assert Session.objects.latest("created_at").counter == 1


def test_form_asks_for_the_code_of_a_challenge(opened, api):
    ann = Person(api).sign_up().enrol()
    run = opened(block("bearer", "// auth.js"), block("bearer", "// login.js"))

    def log_in(password, code):
        return run(f"logIn('{ANN}', '{password}', async () => '{code}')")

    assert log_in(PASSWORD, ann.backup_codes[0]) == f"Hello {ANN}!"
    assert log_in("a wrong password", "") == "The credentials are not valid."


def test_page_of_a_visitor_with_cookies_has_no_request_refused(opened, browser, configure, api):
    with mounted("authservice.csrf"):
        Person(api).sign_up()
        configure(COOKIES={"ENABLED": True})
        run = opened(block("cookies", "// auth.js"))
        browser.get_log("browser")

        assert run("currentUser()") is None
        refused = [entry for entry in browser.get_log("browser") if "/auth/" in entry["message"]]
        assert refused == []

        run(f"login('{ANN}', '{PASSWORD}')")
        assert run("currentUser().then((user) => user.email)") == ANN
        browser.delete_cookie("authservice_access")  # as the browser does once it has expired
        assert run("currentUser().then((user) => user.email)") == ANN


def test_code_of_a_challenge_with_cookies_begins_a_session_with_its_own_csrf_token(
    opened, browser, configure, api
):
    with mounted("authservice.csrf"):
        ann = Person(api).sign_up().enrol()
        configure(COOKIES={"ENABLED": True})
        run = opened(block("cookies", "// auth.js"))
        challenge = f"login('{ANN}', '{PASSWORD}').then(({{ data }}) => data.challenges[0].data)"
        token = run(challenge)["temp_token"]
        code = ann.backup_codes[0]
        assert (
            run(f"answerChallenge('{token}', '{code}').then((a) => a.data.status)") == "signed_in"
        )
        browser.get_log("browser")

        assert run("call('PUT', 'profile', { name: 'Ann' }).then((a) => a.data.name)") == "Ann"
        assert [entry for entry in browser.get_log("browser") if "/auth/" in entry["message"]] == []


def test_tabs_with_cookies_refresh_once(opened, browser, configure, api):
    with mounted("authservice.csrf"):
        Person(api).sign_up()
        configure(COOKIES={"ENABLED": True})
        run = opened(block("cookies", "// auth.js"))
        assert run(f"login('{ANN}', '{PASSWORD}').then((answer) => answer.status)") == 200
        browser.refresh()
        assert run("call('PUT', 'profile', { name: 'Ann' }).then((a) => a.data.name)") == "Ann"
        browser.delete_cookie("authservice_access")  # as the browser does once it has expired

        assert run(TOGETHER) == [200] * TABS

        assert Session.objects.latest("created_at").counter == 1
        run("logout()")
        assert run("call('GET', 'me').then((answer) => answer.status)") == 401


class LoginPage:
    """The page of docs/front_end/templates.rst, at /login of a site with further pages."""

    def __init__(self, browser, origin):
        self.browser, self.origin = browser, origin

    def open(self, address):
        self.browser.get("about:blank")  # another fragment alone loads no page
        self.browser.get(self.origin + address)

    def submit(self, form, **fields):
        found = self.browser.find_element(By.ID, form)
        self.wait(found.is_displayed)
        for name, text in fields.items():
            found.find_element(By.NAME, name).send_keys(text)
        found.find_element(By.TAG_NAME, "button").click()

    def wait(self, condition):
        WebDriverWait(self.browser, 20, 0.05).until(lambda _: condition())

    def wait_for_text(self, text):
        self.wait(lambda: text in self.browser.find_element(By.ID, "state").text)

    def wait_for_address(self, address):
        self.wait(lambda: self.browser.current_url == self.origin + address)


@pytest.fixture
def login_page(browser, service, configure, settings):
    """It has the script of cookies.rst within, because the server of pages serves only HTML."""
    engine = Engine(libraries={"static": "django.templatetags.static"})
    html = engine.from_string(block("templates", "<!-- templates/login.html -->")).render(Context())
    [imported] = [line for line in html.splitlines() if "import { answerChallenge" in line]
    script = block("cookies", "// auth.js").replace("export ", "")
    html = html.replace(imported, script.replace("https://api.example.com/auth", f"{service}/auth"))
    others = dict.fromkeys(("/", "/orders"), "<!doctype html><title>Shop</title>")
    with mounted("authservice.csrf"), pages({"/login": html, **others}, host="localhost") as origin:
        settings.CORS_ALLOWED_ORIGINS = [origin]
        configure(FRONTEND={"URL": origin}, COOKIES={"ENABLED": True})
        browser.get(service)
        browser.delete_all_cookies()
        yield LoginPage(browser, origin)


def test_login_page_asks_for_the_code_and_returns_to_next(login_page, browser, api):
    ann = Person(api).sign_up().enrol()
    login_page.open("/login?next=/orders")
    login_page.submit("login", email=ANN, password="a wrong password")
    login_page.wait_for_text("The credentials are not valid.")
    browser.find_element(By.NAME, "password").clear()
    browser.find_element(By.NAME, "email").clear()
    login_page.submit("login", email=ANN, password=PASSWORD)
    login_page.submit("challenge", code=ann.backup_codes[0])
    login_page.wait_for_address("/orders")

    # The session is still valid when its page is opened again.
    login_page.open("/login?next=/orders")
    login_page.wait_for_address("/orders")


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "http://["]
)
def test_login_page_returns_to_no_other_site(login_page, api, address):
    Person(api).sign_up()
    login_page.open(f"/login?next={address}")
    login_page.submit("login", email=ANN, password=PASSWORD)
    login_page.wait_for_address("/")


@pytest.mark.parametrize(
    ("arrival", "text"),
    [
        ("?error=OAUTH_EMAIL_EXISTS&error_description=It+is+taken.", "It is taken."),
        ("#error=INVALID_TOKEN&error_description=It+is+used.", "It is used."),
        ("#challenge=2fa&temp_token=secret", "Enter a code"),
    ],
    ids=["provider", "magic link", "challenge"],
)
def test_login_page_shows_what_a_link_or_a_provider_brought(login_page, browser, arrival, text):
    login_page.open(f"/login{arrival}")
    login_page.wait_for_text(text)
    login_page.wait_for_address("/login")
