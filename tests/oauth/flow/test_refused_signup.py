"""An attacker's sign-up with a provider that ended without a login leaves no way into the account
after its owner has proven the address (the non-verifying identity provider attack: Sudhodanan and
Paverd, USENIX Security 2022)."""

import pytest
from django.contrib.auth.signals import user_logged_in

from authservice.core.login.host_hooks import write_last_login
from authservice.kernel.hooks import Refused
from authservice.oauth.models import LinkedAccount
from tests.magiclink.magic import Magic
from tests.oauth.browsing import profile
from tests.support.flows import Flows
from tests.support.mounted import mounted
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

# The provider `careless` does not verify addresses; this one is Ann's.
EVE = profile("eve-at-careless", email_verified=False)
_is_open = False


@pytest.fixture(autouse=True, scope="module")
def _magic_links():
    with mounted("tests.support.messenger.apps.PostOffice", "authservice.magiclink"):
        yield


def before_the_launch(arrival):
    """A `CORE.LOGIN_HOOK`."""
    if not _is_open:
        raise Refused("NOT_YET", "Not before the launch.")


def by_provider(browser, api, post):
    return browser.sign_in()


def by_reset(browser, api, post):
    flows = Flows(api, post)
    return flows.reset(flows.reset_token())


def by_magic_link(browser, api, post):
    magic = Magic(api, post)
    return magic.follow(magic.mailed().token)


PROOFS = pytest.mark.parametrize("prove", [by_provider, by_reset, by_magic_link])
STOPPED_BY = {
    "verification": {"CORE": {"REQUIRE_EMAIL_VERIFICATION": True}},
    "hook": {"CORE": {"LOGIN_HOOK": f"{__name__}.before_the_launch"}},
    "second factor": {"TWOFACTOR": {"REQUIRED": "everybody"}},
}


@PROOFS
@pytest.mark.parametrize("reason", STOPPED_BY)
def test_identity_of_a_stopped_sign_up_ends_by_the_first_proof(
    browser, other_browser, api, post, providers, configure, monkeypatch, prove, reason
):
    providers(acme={}, careless={})
    configure(**STOPPED_BY[reason])
    assert "access_token" not in other_browser.sign_in(EVE, "careless").data
    monkeypatch.setattr(f"{__name__}._is_open", True)
    configure(TWOFACTOR={})

    assert prove(browser, api, post).status == 200

    assert not LinkedAccount.objects.filter(provider="careless").exists()
    assert other_browser.sign_in(EVE, "careless").error == (409, "OAUTH_EMAIL_EXISTS")


@pytest.fixture
def without_last_login():
    """A project that has disconnected Django's receiver, as `last_login.py` allows."""
    assert user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(write_last_login, dispatch_uid="update_last_login")


@PROOFS
@pytest.mark.usefixtures("without_last_login")
def test_access_of_a_login_that_stored_no_time_ends_by_the_first_proof(
    browser, other_browser, api, post, providers, prove
):
    providers(acme={}, careless={})
    eve = other_browser.sign_in(EVE, "careless").data
    assert the_user().last_login is None

    assert prove(browser, api, post).status == 200

    assert api.get("me", token=eve["access_token"]).status == 401
    assert other_browser.sign_in(EVE, "careless").status == 409
