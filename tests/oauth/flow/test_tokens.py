"""The tokens of providers: stored if the settings say so, encrypted, refreshed for the host."""

from dataclasses import replace

import pytest

from authservice.oauth.models import LinkedAccount
from authservice.oauth.provider import TokenExchangeFailed
from authservice.oauth.tokens import NoProviderToken, access_token
from tests.oauth import in_process
from tests.oauth.browsing import profile
from tests.oauth.in_process import office
from tests.support.deadlocks import one_deadlock
from tests.support.flows import prove
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(oauth, browser, clock):
    """Tokens of Ann are stored; the clock does not run."""
    oauth(STORE_PROVIDER_TOKENS=True)
    browser.sign_in()


def sealed():
    return LinkedAccount.objects.get().sealed_tokens


def of_a_new_user(browser, api):
    browser.sign_in()


def of_a_returning_user(browser, api):
    browser.sign_in()
    browser.sign_in()


def by_the_address(browser, api):
    api.sign_up()
    prove()
    browser.sign_in()


def by_the_signed_in_user(browser, api):
    browser.link(api.sign_up()["access_token"], profile("1"))


def at_a_later_proof(browser, api):
    browser.sign_in(profile(email_verified=False))
    browser.sign_in()


def at_a_proof_that_removes_access(browser, api):
    browser.link(api.sign_up()["access_token"], profile(email_verified=False))
    browser.sign_in()


def by_an_app(browser, api):
    nonce = api.post("oauth/acme/nonce").data["nonce"]
    api.post("oauth/acme/token", id_token=office.id_token(profile(), nonce), nonce=nonce)
    browser.sign_in()


# Every way in which a link is stored, or its tokens are.
WAYS = [
    of_a_new_user,
    of_a_returning_user,
    by_the_address,
    by_the_signed_in_user,
    at_a_later_proof,
    at_a_proof_that_removes_access,
    by_an_app,
]


@pytest.mark.parametrize("way", WAYS)
def test_tokens_are_not_stored_by_default(browser, api, way):
    way(browser, api)

    assert sealed() == ""
    with pytest.raises(NoProviderToken):
        access_token(the_user(), "acme")


@pytest.mark.parametrize("way", WAYS)
def test_tokens_of_every_way_are_stored_if_the_settings_say_so(oauth, browser, api, way):
    oauth(STORE_PROVIDER_TOKENS=True)
    way(browser, api)

    assert access_token(the_user(), "acme").reveal().startswith("access-")


def test_login_that_proves_the_address_replaces_the_tokens(oauth, browser):
    oauth(STORE_PROVIDER_TOKENS=True)
    browser.sign_in(profile(email_verified=False))
    before = access_token(the_user(), "acme").reveal()

    browser.sign_in()

    assert access_token(the_user(), "acme").reveal() != before


def test_tokens_of_one_subject_at_two_providers_are_apart(oauth, providers, browser):
    """Numeric ids of two providers may be the same."""
    providers(acme={}, other={})
    oauth(STORE_PROVIDER_TOKENS=True)
    token = browser.sign_in(profile("7")).data["access_token"]
    browser.link(token, profile("7"), "other")
    acme, other = (access_token(the_user(), name).reveal() for name in ("acme", "other"))

    browser.sign_in(profile("7"))

    assert access_token(the_user(), "acme").reveal() != acme
    assert access_token(the_user(), "other").reveal() == other


def test_tokens_are_stored_encrypted(stored):
    token = access_token(the_user(), "acme").reveal()

    assert token.startswith("access-")
    assert token not in sealed()


def test_returning_user_replaces_the_tokens(stored, browser):
    before = access_token(the_user(), "acme").reveal()

    browser.sign_in()

    assert access_token(the_user(), "acme").reveal() != before


def test_expired_token_is_refreshed_and_stored(stored, clock):
    before = access_token(the_user(), "acme").reveal()
    clock.forward(hours=1)

    renewed = access_token(the_user(), "acme").reveal()

    assert renewed != before
    assert access_token(the_user(), "acme").reveal() == renewed
    assert len(office.refreshes) == 1


@pytest.mark.django_db(transaction=True)
def test_refresh_that_meets_a_deadlock_is_repeated(stored, clock):
    clock.forward(hours=1)

    with one_deadlock("INSERT") as aborted:
        assert access_token(the_user(), "acme")

    assert (len(aborted), len(office.refreshes)) == (1, 1)


def test_login_during_a_refresh_is_not_overwritten(stored, clock, browser, monkeypatch):
    clock.forward(hours=1)
    ask, seen = in_process.InProcess.refresh, []

    def login_meanwhile(provider, refresh_token):
        answer = ask(provider, refresh_token)
        browser.sign_in()
        seen.append(sealed())
        return answer

    monkeypatch.setattr(in_process.InProcess, "refresh", login_meanwhile)
    access_token(the_user(), "acme")

    assert seen == [sealed()]


def test_renewed_refresh_token_is_used_next(stored, clock):
    for _ in range(2):
        clock.forward(hours=1)
        access_token(the_user(), "acme")

    assert len(set(office.refreshes)) == 2


def test_token_without_an_expiry_is_used_as_it_is(oauth, browser, clock):
    office.lifetime = None
    oauth(STORE_PROVIDER_TOKENS=True)
    browser.sign_in()
    clock.forward(days=300)

    assert access_token(the_user(), "acme")
    assert office.refreshes == []


def test_token_that_cannot_be_refreshed_is_an_error(stored, clock):
    clock.forward(hours=1)
    office.failing = TokenExchangeFailed

    for _ in range(2):
        with pytest.raises(NoProviderToken):
            access_token(the_user(), "acme")


def test_failed_refresh_is_tried_again_later(stored, clock):
    clock.forward(hours=1)
    office.failing = TokenExchangeFailed
    with pytest.raises(NoProviderToken):
        access_token(the_user(), "acme")
    office.failing = None
    clock.forward(seconds=30)

    assert access_token(the_user(), "acme")


def test_provider_that_was_removed_from_the_settings_is_an_error(stored, clock, oauth):
    clock.forward(hours=1)
    oauth(PROVIDERS={})

    with pytest.raises(NoProviderToken):
        access_token(the_user(), "acme")


@pytest.mark.parametrize("provider", ["acme", "other"])
def test_user_without_a_link_has_no_token(stored, provider):
    with pytest.raises(NoProviderToken):
        access_token(make_user("bob@example.com"), provider)


def test_tokens_copied_to_another_account_cannot_be_read(stored, browser):
    kept = sealed()
    browser.sign_in(profile("eve", email="eve@example.com"))
    LinkedAccount.objects.filter(subject="eve").update(sealed_tokens=kept)

    with pytest.raises(NoProviderToken):
        access_token(the_user("eve@example.com"), "acme")


def test_tokens_survive_a_rotated_secret_key(stored, settings):
    before = access_token(the_user(), "acme").reveal()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    assert access_token(the_user(), "acme").reveal() == before


def test_tokens_of_a_removed_secret_key_are_an_error(stored, settings):
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    with pytest.raises(NoProviderToken):
        access_token(the_user(), "acme")


def test_refresh_token_that_is_not_sent_again_stays(stored, clock, monkeypatch):
    made = in_process._tokens
    monkeypatch.setattr(in_process, "_tokens", lambda: replace(made(), refresh_token=None))
    clock.forward(hours=1)
    access_token(the_user(), "acme")
    clock.forward(hours=1)
    office.refreshes.clear()

    assert access_token(the_user(), "acme")


def test_lifetime_of_the_provider_is_kept(stored, clock):
    clock.forward(minutes=58)
    before = access_token(the_user(), "acme").reveal()

    assert (access_token(the_user(), "acme").reveal(), office.refreshes) == (before, [])
