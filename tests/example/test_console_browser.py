"""Complete visits to the console of the example project in a real Chromium."""

import subprocess
from itertools import combinations, product

import pytest

from tests.example.conftest import group
from tests.example.console import PASSWORD, SIZES, Profile
from tests.example.servers import Service, provider
from tests.example.visit import NOT_REACHED, Visit, serious, signed_up
from tests.support import needs
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

COOKIES = Service("uvicorn", "stateless", cookies=True)
# Each pair of server, login module, database and size, in the fewest visits.
CHOICES = (("gunicorn", "uvicorn"), ("session", "stateless"), ("sqlite", "postgresql"), SIZES)
VISITS = (
    (Service("gunicorn", "session", "sqlite"), "phone"),
    (Service("gunicorn", "stateless", "postgresql", cookies=True), "desktop"),
    (Service("uvicorn", "session", "postgresql", cookies=True), "desktop"),
    (Service("uvicorn", "stateless", "sqlite", cookies=True), "desktop"),
    (Service("uvicorn", "stateless", "postgresql"), "phone"),
)


def marks(service):
    return [group(service), *([needs.postgresql] if service.database == "postgresql" else [])]


PARAMETERS = [
    pytest.param(*visit, id="-".join(map(str, visit)), marks=marks(visit[0])) for visit in VISITS
]


def test_visits_combine_each_pair_of_server_login_module_database_and_size():
    made = [(service.server, service.login, service.database, size) for service, size in VISITS]
    for one, other in combinations(range(len(CHOICES)), 2):
        assert {(v[one], v[other]) for v in made} == set(product(CHOICES[one], CHOICES[other]))


@pytest.fixture
def issuer(provider_port, tmp_path):
    with provider(provider_port, tmp_path) as issuer:
        yield issuer


@pytest.mark.parametrize(("service", "size"), PARAMETERS)
def test_two_users_use_the_whole_console(service, size, consoles, browsers, issuer):
    origin = consoles.origin(service)
    ann, bob = (Profile(browser, origin, size) for browser in browsers)
    visit = Visit(ann, bob, f"{service.server}-{service.login[:5]}")

    visit.sign_up()
    visit.change_the_account()
    visit.protect_the_account()
    visit.end_sessions()
    visit.share_an_organization()
    visit.invite_to_the_service()
    assert ann.is_as_wide_as_the_screen()
    visit.give_up_the_second_factor()
    visit.follow_mails()
    visit.link_the_provider(issuer)
    visit.delete_the_account()

    assert ann.browser.execute_script("return localStorage.length + sessionStorage.length") == 0
    assert ann.calls() - ann.sent - bob.sent == NOT_REACHED
    assert [serious(ann, issuer), serious(bob)] == [[], []]


@group(Service())
def test_command_of_the_log_sends_the_same_request(ann):
    signed_up(ann, "curl@example.com")
    command = ann.command("GET /auth/me")

    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)

    assert '"email":"curl@example.com"' in run.stdout.replace(" ", "")


@group(Service())
def test_provider_that_does_not_run_is_reported(consoles, browsers):
    # A service of its own: the others remember the provider of another test.
    visitor = Profile(browsers[0], consoles.origin(Service(login="stateless")))
    visitor.press(visitor.find("[data-provider]"))

    visitor.says("The provider refused the login")


@pytest.fixture
def cookie_user(consoles, browsers):
    """Signed in with tokens in cookies."""
    user = Profile(browsers[0], consoles.origin(COOKIES))
    user.send("signup", email="cookies@example.com", password=PASSWORD)
    if user.text("#who") == "Signed out":
        user.send("login", email="cookies@example.com", password=PASSWORD)
    user.is_signed_in_as("cookies@example.com")
    return user


@group(COOKIES)
@pytest.mark.parametrize(
    "act", [lambda user: user.send("me"), lambda user: user.open("/")], ids=["request", "reload"]
)
def test_session_with_cookies_goes_on_after_the_access_token_expired(cookie_user, act):
    # As the browser does when the token expires.
    cookie_user.browser.delete_cookie("authservice_access")

    act(cookie_user)

    cookie_user.is_signed_in_as("cookies@example.com")
    assert cookie_user.browser.get_cookie("authservice_access")


@group(COOKIES)
def test_reload_after_the_session_ended_shows_the_forms_to_sign_in(cookie_user):
    cookie_user.browser.delete_cookie("authservice_access")
    refresh = cookie_user.browser.get_cookie("authservice_refresh")
    cookie_user.browser.add_cookie({**refresh, "value": "of-no-session"})

    cookie_user.open("/")

    cookie_user.until(lambda: cookie_user.log_length() == 2)
    assert cookie_user.text("#who") == "Signed out"
    assert cookie_user.find("#login").is_displayed()
    assert cookie_user.browser.get_cookie("authservice_refresh") is None


@group(COOKIES)
def test_visitor_without_a_session_causes_no_error(consoles, browsers):
    visitor = Profile(browsers[0], consoles.origin(COOKIES))

    visitor.open("/")

    assert visitor.text("#mailbox-state")
    assert visitor.complaints() == []
    assert visitor.log_length() == 0


@group(Service())
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(ann, scheme):
    ann.emulate(scheme=scheme)

    colour = ann.find("html").value_of_css_property("background-color")

    red = int(colour.partition("(")[2].partition(",")[0])
    assert (red > 200) == (scheme == "light")
