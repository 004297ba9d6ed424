"""A complete login in a real Chromium with real OpenID providers, from the link in the front end
to the tokens."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.models import Session
from tests.oauth.browsing import ANN
from tests.oauth.toolkit.server import ToolkitServer
from tests.support.browser import lent, needs_chromium, pages, requested
from tests.support.mounted import mounted
from tests.support.people import deactivate, the_user
from tests.twofactor.people import Person

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

FRONT = "<p>front end</p>"


# Slow with the other login module, since the tests beside this file try that without a browser.
@pytest.fixture(
    params=["stateless", pytest.param("session", marks=pytest.mark.slow)],
    scope="module",
    autouse=True,
)
def _login_module(request):
    with mounted(login=request.param):
        yield


@pytest.fixture(params=["openid", pytest.param("toolkit", marks=pytest.mark.slow)], scope="module")
def openid(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def chrome(shared_chromium):
    with lent(shared_chromium) as browser:
        yield browser


@pytest.fixture
def front_end():
    """The front end on another origin."""
    with pages({"/signed-in": FRONT, "/failed": FRONT}, host="127.0.0.1") as origin:
        yield origin


@pytest.fixture
def service(chrome, live_server, configure, openid):
    url = live_server.url.replace("127.0.0.1", "localhost")
    openid.add_user("ann-at-oidc", email=ANN, email_verified=True)
    provider = openid.settings(f"{url}/auth/oauth/oidc/callback")
    configure(
        API_URL=url,
        OAUTH={"PROVIDERS": {"oidc": provider}},
        OUTBOUND={"PRIVATE_HOSTS": ["localhost"], "INSECURE_HOSTS": ["localhost"]},
    )
    chrome.get(f"{url}/auth/nowhere")
    chrome.delete_all_cookies()
    requested(chrome)
    return url


@pytest.fixture
def redirected(oauth, front_end):
    oauth(DEFAULT_REDIRECT_URL=f"{front_end}/signed-in", ERROR_REDIRECT_URL=f"{front_end}/failed")


@pytest.fixture
def log_in(chrome, service, openid):
    """`log_in()` opens the link of the front end, and approves at the provider."""

    def log_in():
        chrome.get(f"{service}/auth/oauth/oidc")
        if isinstance(openid, ToolkitServer):
            approve_at_toolkit(chrome, "ann-at-oidc")
        else:
            approve(chrome, "ann-at-oidc")

    return log_in


def approve(chrome, subject):
    chrome.find_element(By.NAME, "sub").send_keys(subject)
    chrome.find_element(By.XPATH, "//button[text()='Authorize']").click()


def approve_at_toolkit(chrome, subject):
    # A user who has logged in before is only asked to approve.
    if chrome.find_elements(By.NAME, "username"):
        chrome.find_element(By.NAME, "username").send_keys(subject)
        chrome.find_element(By.NAME, "password").send_keys(subject)
        chrome.find_element(By.TAG_NAME, "button").click()
    wait = WebDriverWait(chrome, 10, 0.05)
    wait.until(lambda _: chrome.find_elements(By.NAME, "allow"))[0].click()


def arrived(chrome, start):
    WebDriverWait(chrome, 10, 0.05).until(lambda _: chrome.current_url.startswith(start))
    return urlsplit(chrome.current_url)


def test_login_answers_in_json(chrome, log_in, service):
    log_in()

    arrived(chrome, f"{service}/auth/oauth/oidc/callback")
    data = json.loads(chrome.find_element(By.TAG_NAME, "body").text)["data"]
    assert (data["user"]["email"], data["is_new_user"], data["token_type"]) == (ANN, True, "Bearer")
    assert [one["name"] for one in chrome.get_cookies() if "oauth" in one["name"]] == []


def test_login_redirects_to_the_front_end_with_tokens(chrome, log_in, redirected, front_end, api):
    log_in()

    values = dict(parse_qsl(arrived(chrome, f"{front_end}/signed-in").fragment))
    assert api.get("me", token=values["access_token"]).data["email"] == ANN


def test_callback_opened_again_logs_nobody_in(chrome, log_in, redirected, front_end):
    log_in()
    arrived(chrome, f"{front_end}/signed-in")
    [callback] = [url for url in requested(chrome) if "/callback?" in url]
    before = Session.objects.count()

    chrome.get(callback)

    query = dict(parse_qsl(arrived(chrome, f"{front_end}/failed").query))
    assert query["error"] == "OAUTH_STATE_USED"
    assert Session.objects.count() == before


def test_inactive_user_gets_to_the_error_page(chrome, log_in, redirected, front_end):
    log_in()
    arrived(chrome, f"{front_end}/signed-in")
    deactivate()

    log_in()

    query = dict(parse_qsl(arrived(chrome, f"{front_end}/failed").query))
    assert query["error"] == "USER_NOT_ACTIVE"


@pytest.mark.slow
def test_second_factor_is_asked_for_in_the_fragment(chrome, log_in, redirected, front_end, api):
    log_in()
    ann = Person(api, ANN)
    ann.token = dict(parse_qsl(arrived(chrome, f"{front_end}/signed-in").fragment))["access_token"]
    ann.user_id = str(the_user().pk)
    ann.enrol()
    chrome.get("about:blank")

    log_in()

    values = dict(parse_qsl(arrived(chrome, f"{front_end}/signed-in").fragment))
    assert set(values) == {"challenge", "temp_token"}
    assert ann.verify_login(ann.backup_codes[0], values["temp_token"]).status == 200
