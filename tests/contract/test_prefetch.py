"""A browser that prepares a visit gets an error from every page that a link opens, and shows the
real answer to its user later."""

import json
import time
from collections import defaultdict
from types import ModuleType
from urllib.parse import urlencode

import pytest
from django.core.signals import request_started
from django.http import HttpResponse
from django.urls import include
from django.urls import path as url
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.core.login_matrix.world import MODULES
from tests.magiclink.magic import Magic
from tests.oauth.in_process import SETTINGS
from tests.support.browser import chromium, needs_chromium
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office
from tests.support.mounted import mounted
from tests.support.routes import endpoints

pytestmark = pytest.mark.django_db
PREFETCHES = [
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Sec-Purpose": "prefetch;anonymous-client-ip"},
    {"Sec-Purpose": "prerender"},
    {"Sec-Purpose": "Prefetch"},
    {"Purpose": "prefetch"},
    {"Purpose": "preview"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
]
HTML = {"Accept": "text/html"}


@pytest.fixture(autouse=True, scope="module")
def _modules():
    with mounted(*MODULES, "authservice.pages"):
        yield


@pytest.fixture(autouse=True)
def _provider(configure):
    configure(OAUTH={"PROVIDERS": {"acme": SETTINGS}}, COOKIES={"ENABLED": True})


def opened():
    """The paths that show a page to a person, or redirect a browser."""
    for path, view in endpoints():
        action = getattr(view.cls, view.actions.get("get", ""), None)
        operation = getattr(action, "operation", None)
        if (
            operation
            and (operation.page or operation.redirect)
            or hasattr(view.cls, "show_form")
            and action
        ):
            yield path, view.cls


def test_every_page_of_a_link_is_one_that_is_visited():
    pages = dict(opened())

    assert len(pages) >= 7
    assert [path for path, view in pages.items() if not view.is_visited] == []


@pytest.mark.parametrize("headers", PREFETCHES, ids=str)
def test_prefetch_is_an_error_without_a_body(api, headers):
    for path, _ in opened():
        address = f"{path.replace('<str:provider>', 'acme')}?token={'A' * 43}&state=x&code=y"

        response = api.request("GET", address, headers={**HTML, **headers}).response

        assert (response.status_code, response.content) == (503, b""), path
        assert response.headers["Retry-After"] == "1"
        assert not response.cookies
        assert api.request("GET", address).status != 503


def test_prefetch_is_no_outage_in_the_log(api, caplog):
    api.request("GET", "verify-email?token=x", headers={"Sec-Purpose": "prefetch"})

    assert caplog.records == []


def test_routes_of_programs_do_not_look_at_the_purpose(api):
    assert api.get(".well-known/jwks.json", headers={"Sec-Purpose": "prefetch"}).status == 200


def speculating(kind, link):
    """A page by whose rules Chromium prepares a visit of the link at once."""
    rules = json.dumps({kind: [{"source": "list", "urls": [link], "eagerness": "immediate"}]})
    return f"""<script type="speculationrules">{rules}</script><a href="{link}">Open</a>"""


@pytest.fixture
def purposes():
    """What Chromium gives as the purpose of its requests, by their full path."""
    noted = defaultdict(list)

    def note(sender, environ, **_):
        path = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        noted[path].append(environ.get("HTTP_SEC_PURPOSE", ""))

    request_started.connect(note)
    yield noted
    request_started.disconnect(note)


@pytest.fixture
def visit(tmp_path, live_server, settings, configure):
    """Call it with a kind and a link: it opens a page that lets Chromium prepare a visit."""
    origin = live_server.url.replace("127.0.0.1", "localhost")
    configure(API_URL=origin, COOKIES={"ENABLED": True})
    project = ModuleType("project_urls")
    project.urlpatterns = [
        url("auth/", include("authservice.urls")),
        url("mailbox", lambda request: HttpResponse(speculating(**request.GET.dict()))),
    ]
    settings.ROOT_URLCONF = project
    with chromium(tmp_path) as browser:

        def open_mailbox(kind, link):
            browser.get(f"{origin}/mailbox?{urlencode({'kind': kind, 'link': link})}")
            return browser, WebDriverWait(browser, 20)

        yield open_mailbox


@pytest.mark.slow
@needs_chromium
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["prefetch", "prerender"])
def test_magic_link_that_chromium_prepared_works_when_it_is_clicked(visit, purposes, kind):
    api = CommittingApi()
    api.sign_up()
    link = f"/auth/magic-link/verify?token={Magic(api, office).mailed().token}"

    browser, wait = visit(kind, link)
    wait.until(lambda _: purposes[link])
    browser.find_element(By.TAG_NAME, "a").click()
    wait.until(lambda _: browser.find_elements(By.TAG_NAME, "button"))[0].click()
    wait.until(lambda _: browser.get_cookie("authservice_access"))

    assert purposes[link][0].startswith("prefetch")
    assert "" in purposes[link]


@pytest.mark.slow
@needs_chromium
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["prefetch", "prerender"])
def test_every_page_that_chromium_prepared_is_opened_when_it_is_clicked(visit, purposes, kind):
    paths = [path.replace("<str:provider>", "acme") for path, _ in opened()]

    for path in paths:
        link = f"/auth/{path}?token={'A' * 43}&state=x&code=y"
        browser, wait = visit(kind, link)
        wait.until(lambda _, link=link: purposes[link])
        browser.find_element(By.TAG_NAME, "a").click()

        # The error was not shown: the click is a request of its own.
        wait.until(lambda _, link=link: "" in purposes[link])
        assert purposes[link][0].startswith("prefetch"), path
        # Chromium prepares no visit of this server before the time of `Retry-After` is over.
        time.sleep(1.5)
