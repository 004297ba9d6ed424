"""axe-core finds nothing wrong with the shop in each of its states, on phones and a desktop, in
light and in dark colours."""

import os

import pytest

from tests.example.conftest import group
from tests.example.console import SIZES
from tests.example.servers import Service, provider
from tests.support.axe import violations
from tests.support.browser import needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium, group(Service())]


def found(profile):
    """The violations in the present state of the whole page."""
    wrong = []
    for size in SIZES:
        # The bar at the bottom stays on the screen, so a link that has scrolled below its edge
        # seems to be too small.
        profile.resize(size, height=3000)
        for scheme in ("light", "dark"):
            profile.emulate(scheme=scheme)
            wrong += [f"{size} {scheme}: {one}" for one in violations(profile.browser)]
    profile.resize("desktop")
    return wrong


def test_shop_has_no_violation_before_a_login(ann):
    assert found(ann) == []

    ann.press(ann.find(".drawer > summary"))
    for panel in ("mails", "logins"):
        ann.press(ann.shown(f"[for=show-{panel}]"))
        assert found(ann) == []


def test_shop_and_drawer_of_a_user(ann):
    email = f"access-{os.urandom(4).hex()}@example.com"
    ann.sign_up(email)
    ann.toast(email)
    assert found(ann) == []

    ann.press(ann.find(".menu summary"))
    assert found(ann) == []

    ann.press(ann.shown(".toast a"))
    ann.shown(".panel.mails details[open]")
    assert found(ann) == []

    ann.press(ann.find("[for=show-calls]"))
    ann.press(ann.shown("#calls summary"))
    assert found(ann) == []


def test_pages_of_a_user(ann):
    ann.sign_up(f"pages-{os.urandom(4).hex()}@example.com")
    for path in ("/orders", "/orders/new/tree", "/mailbox", "/requests"):
        ann.open(path)
        assert found(ann) == [], path

    ann.open("/orders/new/tree")
    ann.send()
    assert ann.path == "/orders"
    assert found(ann) == []


@pytest.mark.parametrize("path", ["/auth/login", "/auth/forgot-password", "/auth/account/profile"])
def test_pages_of_the_account_with_their_links_to_the_shop(ann, path):
    ann.sign_up(f"links-{os.urandom(4).hex()}@example.com")
    if not path.endswith("profile"):
        ann.sign_out()
    ann.open(path)

    assert ann.find("nav.developer a").text == "← Plum shop"
    assert found(ann) == []
    assert ann.complaints() == []


def test_page_of_the_local_provider(ann, provider_port, tmp_path):
    with provider(provider_port, tmp_path) as issuer:
        ann.open("/auth/login")
        ann.press(ann.find("main [href*='/oauth/oidc']"))
        ann.until(lambda: ann.browser.current_url.startswith(issuer))
        # A heading of the provider's own page, which is not ours.
        assert violations(ann.browser, known={"heading-order": "#heading-auth-predefined"}) == []
