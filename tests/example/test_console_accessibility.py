"""axe-core finds nothing wrong with the console in each of its states, on a phone and a desktop, in
light and in dark colours."""

import time

import pyotp
import pytest

from tests.example.conftest import group
from tests.example.console import PASSWORD, SIZES
from tests.example.servers import Service, provider
from tests.example.visit import wait_for_time_step
from tests.support.axe import violations
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium, group(Service())]

OPEN = "document.querySelectorAll('details').forEach(part => part.open = true)"


def found(profile):
    """The violations in the present state, with everything open."""
    profile.settled()
    profile.browser.execute_script(OPEN)
    wrong = []
    for size in SIZES:
        profile.resize(size)
        for scheme in ("light", "dark"):
            profile.emulate(scheme=scheme)
            wrong += [f"{size} {scheme}: {one}" for one in violations(profile.browser)]
    return wrong


def test_console_has_no_violation_before_a_login(ann):
    assert found(ann) == []

    ann.send("login", email="nobody@example.com", password="wrong")
    assert found(ann) == []

    ann.open("/verified?status=error")
    ann.says("The link is not valid")
    assert found(ann) == []


def test_page_of_a_user_with_everything_open(ann):
    ann.send("signup", email="access@example.com", password=PASSWORD)
    ann.is_signed_in_as("access@example.com")
    ann.mailed("access@example.com", "/verify-email?")
    ann.send("setup")
    ann.send("create", name="Accessible")
    ann.send_row("#organization-list > li")
    for form in ("organizations", "sessions", "linked", "audit", "invitations"):
        ann.send(form)
    ann.send("invite-member", email="member@example.com")
    ann.send("disable", code="000000")
    assert found(ann) == []

    # The challenge of the next login.
    app = pyotp.TOTP(ann.text("#secret [data-text=secret]"))
    wait_for_time_step(seconds=15)
    ann.send("verify", code=app.at(time.time() - 30))
    ann.log_out()
    ann.send("login", email="access@example.com", password=PASSWORD)
    assert ann.find("#verify-login").is_displayed()
    assert found(ann) == []


@pytest.mark.parametrize("path", ["reset-password", "invitations/accept", "org/invitations/accept"])
def test_page_of_a_mailed_link(ann, path):
    ann.open(f"/{path}?token=of-a-mail")

    assert ann.find("[data-when=mailed]").is_displayed()
    assert found(ann) == []


def test_page_of_the_local_provider(ann, provider_port, tmp_path):
    with provider(provider_port, tmp_path) as issuer:
        ann.press(ann.find("[data-provider]"))
        ann.until(lambda: ann.browser.current_url.startswith(issuer))
        # A heading of the provider's own page, which is not ours.
        assert violations(ann.browser, known={"heading-order": "#heading-auth-predefined"}) == []
