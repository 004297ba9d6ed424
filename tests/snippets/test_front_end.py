"""The scripts of docs/front_end run in Chromium, on a page of another origin than the service."""

import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import override_settings
from pytest_django.live_server_helper import LiveServer

from authservice.core.models import Session
from tests.snippets.blocks import of_page
from tests.support.browser import chromium, needs_chromium, pages
from tests.support.client import PASSWORD
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
    functions = ["call", "login", "logout", *(["logIn"] if "logIn(" in code else [])]
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


def test_form_asks_for_the_code_of_a_challenge(opened, api):
    ann = Person(api).sign_up().enrol()
    run = opened(block("bearer", "// auth.js"), block("bearer", "// login.js"))

    def log_in(password, code):
        return run(f"logIn('{ANN}', '{password}', async () => '{code}')")

    assert log_in(PASSWORD, ann.backup_codes[0]) == f"Hello {ANN}!"
    assert log_in("a wrong password", "") == "The credentials are not valid."


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
