"""Complete visits to the shop of the example project in a real Chromium."""

import json
import os
import subprocess
from itertools import combinations, product

import pytest
from selenium.webdriver.common.by import By

from tests.example.conftest import group
from tests.example.console import PASSWORD, SIZES, Profile
from tests.example.servers import Service, provider
from tests.example.visit import Visit
from tests.support import needs
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

# Each pair of server, login module, database and size, in the fewest visits.
CHOICES = (
    ("gunicorn", "uvicorn"),
    ("session", "stateless"),
    ("sqlite", "postgresql"),
    ("phone", "desktop"),
)
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
def test_two_users_order_and_manage_their_accounts(service, size, consoles, browsers, issuer):
    origin = consoles.origin(service)
    ann, bob = (Profile(browser, origin, size) for browser in browsers)
    visit = Visit(ann, bob, f"{service.server}-{service.login[:5]}")

    visit.order_as_a_visitor()
    visit.confirm_the_address()
    visit.protect_the_account()
    visit.end_a_session()
    visit.share_an_organization()
    visit.reset_the_password()
    visit.sign_in_by_mail()
    visit.sign_in_with_the_provider(issuer)
    visit.delete_the_account()

    assert [ann.complaints(issuer), bob.complaints()] == [[], []]


@pytest.fixture
def toast(ann):
    """The toast of the mail after a sign-up."""
    email = f"toast-{os.urandom(4).hex()}@example.com"
    ann.sign_up(email)
    return ann.toast(email)


COVERED = """
const [toast, heading] = [...arguments].map(element => element.getBoundingClientRect());
return toast.left < heading.right && heading.left < toast.right
    && toast.top < heading.bottom && heading.top < toast.bottom;
"""


@group(Service())
def test_toast_covers_no_heading_of_the_card(ann, toast):
    for size in SIZES:
        ann.resize(size)
        heading = ann.find("#card h2")
        assert heading.is_displayed()
        assert not ann.browser.execute_script(COVERED, toast, heading), size


@group(Service())
def test_toast_stays_on_the_next_page_until_it_is_closed(ann, toast):
    assert "Confirm your e-mail address" in toast.text

    ann.open("/orders")
    ann.press(ann.shown(".toast button"))
    assert ann.all(".toast") == []

    ann.open("/")
    assert ann.find("#mails-count").text != "0"
    assert ann.all(".toast") == []


@group(Service())
def test_mail_that_arrives_later_is_announced_and_marked(ann):
    email = f"later-{os.urandom(4).hex()}@example.com"
    ann.sign_up(email)
    ann.press(ann.toast(email).find_element(By.TAG_NAME, "button"))
    ann.browser.execute_script(
        "fetch('/auth/forgot-password', {method: 'POST', body: arguments[0],"
        " headers: {'Content-Type': 'application/json'}})",
        json.dumps({"email": email}),
    )

    assert email in ann.shown(".toast").text
    ann.press(ann.find(".toast a"))
    assert "/reset-password?" in ann.shown(".panel.mails details[open] .text").text
    assert ann.all("#mails-count.new") == []


@group(Service())
def test_drawer_copies_each_request_as_a_command_that_sends_it_again(ann):
    email = f"curl-{os.urandom(4).hex()}@example.com"
    ann.sign_up(email)
    ann.open("/auth/account/profile")
    ann.open("/")
    ann.press(ann.find(".drawer > summary"))
    row = ann.shown("#calls li:has(summary)")
    entries = [e for e in ann.all("#calls li") if "GET /auth/me" in e.text]
    ann.press(entries[0].find_element(By.TAG_NAME, "summary"))
    command = entries[0].find_element(By.CLASS_NAME, "command").text
    ann.press(entries[0].find_element(By.CLASS_NAME, "copy"))
    token = _token(ann.origin, email)
    run = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "TOKEN": token},
        capture_output=True,
        text=True,
        check=True,
    )

    assert row.is_displayed()
    assert f'"email":"{email}"' in run.stdout.replace(" ", "")
    assert PASSWORD not in ann.browser.page_source


def _token(origin, email):
    body = json.dumps({"email": email, "password": PASSWORD})
    command = ["curl", "-sS", f"{origin}/auth/login", "-H", "Content-Type: application/json"]
    run = subprocess.run([*command, "-d", body], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["data"]["access_token"]


@group(Service())
def test_drawer_and_menu_work_without_a_script(ann):
    email = f"plain-{os.urandom(4).hex()}@example.com"
    ann.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        ann.open("/")
        ann.find("#email").send_keys(email)
        ann.find("#password").send_keys(PASSWORD)
        ann.press(ann.find("#card form button"))
        ann.until(lambda: ann.is_signed_in)
        ann.press(ann.find(".menu summary"))
        assert ann.shown(".menu form button").text == "Sign out"
        ann.press(ann.find(".menu summary"))

        ann.press(ann.find(".drawer > summary"))
        assert "POST /auth/signup" in ann.shown(".panel.calls").text
        ann.press(ann.find("[for=show-logins]"))
        assert "createsuperuser" in ann.shown(".panel.logins").text
        ann.press(ann.find(".drawer > summary"))
        ann.press(ann.find("a[href='/mailbox']"))
        ann.until(lambda: ann.heading == "Mailbox")
        ann.until(lambda: email in ann.text or ann.open("/mailbox"))
    finally:
        ann.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@group(Service())
@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_the_screen_and_loads_from_its_own_origin(ann, size):
    ann.resize(size)
    ann.open("/")
    wide = [] if ann.is_as_wide_as_the_screen() else ["/ before a login"]
    ann.sign_up(f"fits-{os.urandom(4).hex()}@example.com")
    for path in ("/", "/orders", "/orders/new/tart", "/mailbox", "/requests"):
        ann.open(path)
        wide += [] if ann.is_as_wide_as_the_screen() else [path]

    assert wide == []
    assert ann.complaints() == []


@group(Service())
def test_provider_that_does_not_run_is_reported(consoles, browsers):
    # A service of its own: the others remember the provider of another test.
    visitor = Profile(browsers[0], consoles.origin(Service(login="stateless")))
    visitor.open("/auth/login")
    visitor.press(visitor.find("main [href*='/oauth/oidc']"))

    visitor.until(lambda: "The provider does not answer" in visitor.text)


@group(Service())
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(ann, scheme):
    ann.emulate(scheme=scheme)

    colour = ann.find("body").value_of_css_property("background-color")

    red = int(colour.partition("(")[2].partition(",")[0])
    assert (red > 200) == (scheme == "light")
