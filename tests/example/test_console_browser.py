"""Complete visits to the console of the example project in a real Chromium."""

import subprocess
import time

import pyotp
import pytest
from selenium.webdriver.common.keys import Keys

from tests.example.console import PASSWORD, SIZES, Profile, consoles, provider
from tests.notification.servers import free_port
from tests.support.browser import chromium, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def provider_port():
    return free_port()


@pytest.fixture(scope="module")
def servers(tmp_path_factory, provider_port):
    issuer = f"http://localhost:{provider_port}"
    oidc = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": "id", "OIDC_CLIENT_SECRET": "secret"}
    with consoles(tmp_path_factory.mktemp("console"), **oidc) as origins:
        yield origins


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    """Two profiles, which share nothing."""
    with (
        chromium(tmp_path_factory.mktemp("first")) as first,
        chromium(tmp_path_factory.mktemp("second")) as second,
    ):
        yield first, second


@pytest.fixture(params=SIZES)
def profiles(request, servers, browsers):
    """Ann's profile and Bob's, on a server of their own for each size."""
    origin = servers[list(SIZES).index(request.param)]
    return [Profile(browser, origin, request.param) for browser in browsers]


def serious(profile):
    """Complaints of the browser. It reports each refused request as an error of its console."""
    return [one for one in profile.complaints() if "401 (Unauthorized)" not in one]


def signed_up(profile, address):
    profile.send("signup", email=address, password=PASSWORD)
    profile.is_signed_in_as(address)
    profile.follow(address, "/verify-email?")
    profile.until(lambda: profile.text("#banner") == "The address is verified.")
    profile.back()
    profile.send("me")
    assert profile.text("#user [data-text=email_verified]") == "true"


def enable_second_factor(profile):
    """Set up an authenticator app from what the page shows; returns it with a backup code."""
    profile.send("setup")
    assert profile.find("#secret img").get_property("naturalWidth") > 0
    app = pyotp.TOTP(profile.text("#secret [data-text=secret]"))
    backup = profile.text("#secret [data-text=backup_codes]").splitlines()[0]
    # A code works once: the next login needs that of the next time step.
    profile.send("verify", code=app.at(time.time() - 30))
    profile.until(lambda: profile.text("#factor-state [data-text=enabled]") == "true")
    assert not profile.find("#secret").is_displayed()
    return app, backup


def log_in(profile, address, code):
    profile.send("login", email=address, password=PASSWORD)
    profile.until(lambda: profile.find("#verify-login").is_displayed())
    profile.send("verify-login", code=code)
    profile.is_signed_in_as(address)


def end_other_session(ann, other, address, code):
    """The other profile logs in to the same account, and the first one ends that session."""
    log_in(other, address, code)
    ann.send("sessions")
    assert len(ann.all("#session-list > li")) == 2
    ann.send("end-others")
    ann.until(lambda: len(ann.all("#session-list > li")) == 1)
    other.send("me")
    assert other.text("#banner") == "This session has ended."


def test_users_share_an_organization(profiles, request):
    ann, bob = profiles
    size = request.node.callspec.params["profiles"]
    address, invited = f"ann-{size}@example.com", f"bob-{size}@example.com"

    # Sign up, verify, protect the account, log in.
    assert "INVALID_CREDENTIALS" in ann.send("login", email=address, password=PASSWORD)
    signed_up(ann, address)
    app, backup = enable_second_factor(ann)
    ann.log_out()
    log_in(ann, address, app.now())
    if ann.all("#sessions"):
        end_other_session(ann, bob, address, backup)
    else:
        assert "AUTHSERVICE_LOGIN=session" in ann.text("[aria-labelledby=sessions-title]")

    # Organization: Ann invites, Bob accepts in his own profile.
    ann.send("create", name=f"Acme {size}")
    ann.until(lambda: ann.all("#organization-list button"))[0].click()
    ann.until(lambda: ann.all("#member-list > li"))
    ann.send("invite-member", email=invited)
    bob.follow(invited, "/org/invitations/accept?")
    bob.send("accept", name="Bob", password=PASSWORD)
    bob.is_signed_in_as(invited)
    bob.send("organizations")
    assert f"Acme {size}" in bob.text("#organization-list")
    ann.send("members")
    assert f"{invited}: member" in ann.text("#member-list")
    ann.send("audit")
    assert "org.invitation.sent" in ann.text("#audit-list")

    assert ann.is_as_wide_as_the_screen()
    assert bob.is_as_wide_as_the_screen()
    assert ann.browser.execute_script("return localStorage.length + sessionStorage.length") == 0
    assert [serious(ann), serious(bob)] == [[], []]
    bob.back()


@pytest.fixture
def ann(servers, browsers):
    return Profile(browsers[0], servers[0], "desktop")


def test_command_of_the_log_sends_the_same_request(ann):
    signed_up(ann, "curl@example.com")
    command = ann.command("GET /auth/me")

    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)

    assert '"email":"curl@example.com"' in run.stdout.replace(" ", "")


def test_user_signs_in_by_mail_and_chooses_another_password(ann):
    signed_up(ann, "mail@example.com")
    ann.log_out()
    ann.send("magiclink", email="mail@example.com")
    ann.follow("mail@example.com", "/magic-link/verify?")
    ann.is_signed_in_as("mail@example.com")
    ann.back()

    ann.send("forgot", email="mail@example.com")
    ann.follow("mail@example.com", "/reset-password?")
    assert "token" not in ann.browser.current_url
    ann.send("reset", new_password="fig tart 43 doors")
    ann.send("login", email="mail@example.com", password="fig tart 43 doors")
    ann.is_signed_in_as("mail@example.com")
    ann.back()
    assert serious(ann) == []


def test_session_with_cookies_goes_on_when_the_access_token_expires(servers, browsers):
    ann = Profile(browsers[0], servers[1], "desktop")
    ann.send("signup", email="cookies@example.com", password=PASSWORD)
    ann.is_signed_in_as("cookies@example.com")
    # As the browser does when the token expires.
    ann.browser.delete_cookie("authservice_access")

    ann.send("me")

    ann.is_signed_in_as("cookies@example.com")
    assert ann.browser.get_cookie("authservice_access")
    ann.log_out()


def test_user_changes_the_address_with_a_link_to_the_new_one(ann):
    ann.send("signup", email="old@example.com", password=PASSWORD)
    ann.is_signed_in_as("old@example.com")
    assert "INVALID_CREDENTIALS" in ann.send("change-email", email="new@example.com", password="x")
    ann.send("change-email", email="new@example.com", password=PASSWORD)
    ann.follow("new@example.com", "/change-email/confirm?")
    ann.until(lambda: ann.text("#banner") == "The address is verified.")
    ann.back()

    ann.send("me")

    ann.is_signed_in_as("new@example.com")


def test_user_logs_in_with_the_local_provider(ann, provider_port, tmp_path):
    ann.find("[data-provider]").click()
    ann.until(lambda: "OAUTH_PROVIDER_ERROR" in ann.text("[aria-labelledby=providers-title]"))
    with provider(provider_port, tmp_path) as issuer:
        ann.find("[data-provider]").click()
        ann.until(lambda: ann.browser.current_url.startswith(issuer))
        ann.find("button[value=ann]").click()
        ann.is_signed_in_as("ann@provider.example.com")
    assert "token" not in ann.browser.current_url
    ann.send("linked")
    assert ann.text("#linked-state [data-text=providers]") == "oidc"


def test_console_is_used_with_the_keyboard_alone(ann):
    keys = [Keys.TAB, Keys.ENTER]  # the link that skips the header
    keys += [Keys.TAB, "keys@example.com", Keys.TAB, PASSWORD, Keys.TAB, Keys.SPACE]
    ann.type(*keys)
    ann.is_signed_in_as("keys@example.com")

    # The focus is at the heading of the account. Its first button reads the account.
    before = ann.log_length()
    ann.type(Keys.TAB, Keys.ENTER)

    ann.until(lambda: ann.log_length() > before)
    assert ann.focused() == "Read my account"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(ann, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    ann.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    colour = ann.find("html").value_of_css_property("background-color")

    red = int(colour.partition("(")[2].partition(",")[0])
    assert (red > 200) == (scheme == "light")
