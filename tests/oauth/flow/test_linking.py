"""A signed-in user links, lists and unlinks providers."""

import pytest

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.oauth import linking
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import ANN, FRONT, fragment_of, profile
from tests.oauth.in_process import office
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import the_user
from tests.support.slots import accessing

pytestmark = pytest.mark.django_db

WORK = profile("ann-at-work", email="ann@work.example")


@pytest.fixture
def token(ann):
    return ann["access_token"]


def linked(api, token):
    return api.get("oauth/linked", token=token).data["providers"]


def unlink(api, token, provider="acme"):
    return api.request("DELETE", f"oauth/{provider}", token=token)


def test_signed_in_user_links_a_provider(browser, api, ann, token):
    answer = browser.link(token, WORK)

    assert answer.data == {
        "status": "linked",
        "message": "The provider was linked.",
        "provider": "acme",
    }
    assert linked(api, token) == ["acme"]
    assert browser.sign_in(WORK).data["user"]["id"] == ann["user"]["id"]


def test_linking_answers_the_address_of_the_provider_and_binds_the_browser(browser, token):
    answer = browser.start_linking(token)

    assert answer.data["url"].startswith("https://acme.example/authorize?")
    assert [name for name in browser.cookies if name.startswith("authservice_oauth_")]


def test_linking_is_redirected_to_the_front_end(browser, oauth, token):
    oauth(DEFAULT_REDIRECT_URL=FRONT)

    assert fragment_of(browser.link(token, WORK)) == (FRONT, {"linked": "acme"})


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "oauth/acme/link"), ("DELETE", "oauth/acme")]
)
def test_linking_requires_a_user(api, method, path):
    assert api.request(method, path).error == (401, "UNAUTHORIZED")


def test_list_of_linked_providers_requires_a_user(api):
    assert api.get("oauth/linked").error == (401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        (None, (404, "OAUTH_PROVIDER_NOT_FOUND")),
        ({"ENABLED": False}, (400, "OAUTH_PROVIDER_DISABLED")),
    ],
)
def test_provider_that_cannot_be_used_is_not_linked(browser, providers, token, keys, error):
    providers(**({"acme": keys} if keys else {}))

    assert browser.start_linking(token).error == error


def test_linking_again_changes_nothing(browser, post, token):
    browser.link(token, WORK)
    post.jobs.clear()

    assert browser.link(token, WORK).status == 200
    assert (LinkedAccount.objects.count(), post.jobs) == (1, [])


def test_identity_of_another_account_is_refused(browser, api, token):
    eve = api.sign_up("eve@example.com")["access_token"]
    browser.link(eve, WORK)

    assert browser.link(token, WORK).error == (409, "OAUTH_ALREADY_LINKED")
    assert (linked(api, eve), linked(api, token)) == (["acme"], [])


def test_second_identity_of_a_provider_is_refused(browser, api, token):
    browser.link(token, WORK)

    assert browser.link(token, profile("another")).error == (409, "OAUTH_ALREADY_LINKED")


def test_logged_out_user_links_nothing(browser, api, token):
    url = browser.start_linking(token).data["url"]
    api.post("logout", token=token)

    answer = browser.come_back(office.approve(url, WORK))

    assert answer.error == (400, "OAUTH_INVALID_STATE")
    assert not LinkedAccount.objects.exists()


def test_user_whose_password_changed_links_nothing(browser, api, ann, token):
    other = api.log_in()["access_token"]
    url = browser.start_linking(token).data["url"]
    body = {"old_password": PASSWORD, "new_password": "fig biscuit 17 lanterns"}
    assert api.request("PUT", "change-password", body, token=other).status == 200

    assert browser.come_back(office.approve(url, WORK)).error == (400, "OAUTH_INVALID_STATE")


def test_user_who_changed_since_the_start_links_nothing(browser, api, token):
    eve = api.sign_up("eve@example.com")["access_token"]
    url = browser.start_linking(token).data["url"]

    answer = browser.come_back(office.approve(url, WORK), Authorization=f"Bearer {eve}")

    assert answer.error == (400, "OAUTH_INVALID_STATE")
    assert not LinkedAccount.objects.exists()


def test_linking_in_another_browser_is_refused(browser, other_browser, token):
    """An attacker makes a victim's browser link the identity of the attacker, or the reverse."""
    address = office.approve(browser.start_linking(token).data["url"], WORK)

    assert other_browser.come_back(address).error == (400, "OAUTH_INVALID_STATE")
    assert not LinkedAccount.objects.exists()


def test_linking_with_the_own_verified_address_verifies_it(browser, api):
    token = api.sign_up()["access_token"]

    browser.link(token)

    assert api.get("me", token=token).data["email_verified"] is True
    api.log_in()


def test_linking_with_another_verified_address_verifies_nothing(browser, api):
    token = api.sign_up()["access_token"]

    browser.link(token, WORK)

    assert api.get("me", token=token).data["email_verified"] is False


def test_linking_with_the_own_unverified_address_verifies_nothing(browser, api):
    """The provider passes on what its user typed: an attacker may have signed up here and there
    with the address of another person."""
    token = api.sign_up()["access_token"]

    browser.link(token, profile(email_verified=False))

    assert linked(api, token) == ["acme"]
    assert api.get("me", token=token).data["email_verified"] is False
    assert Account.objects.get().proven_email_key == ""


def test_owner_is_notified_of_a_linked_and_an_unlinked_provider(browser, api, post, token):
    browser.link(token, WORK)
    unlink(api, token)

    assert post.kinds() == ["provider-linked", "provider-unlinked"]


@pytest.mark.parametrize("proven", [True, False])
def test_owner_of_a_proven_address_is_notified_of_a_provider_that_staff_unlink(
    browser, api, post, proven, django_capture_on_commit_callbacks
):
    """Without the address, device or language of staff."""
    browser.link(api.sign_up()["access_token"], WORK)
    if proven:
        prove()
    post.jobs.clear()
    client = Client(address="192.0.2.7", user_agent="Staff/1.0", language="de")

    with django_capture_on_commit_callbacks(execute=True):
        linking.unlink_by_staff(lookup.get_person(the_user()), "acme", by=the_user(), client=client)

    assert post.kinds() == ["provider-unlinked"] * proven
    shown = [(job.target, job.language, sorted(job.details)) for job in post.jobs]
    assert shown == [(ANN, "", ["by", "provider"])] * proven


class TestRecentProof:
    @pytest.fixture(autouse=True)
    def _required(self, configure):
        configure(CORE={"REQUIRE_RECENT_PROOF": True})

    def test_recent_session_links(self, browser, token):
        assert browser.start_linking(token).status == 200

    def test_older_session_is_refused(self, browser, api, clock):
        token = api.sign_up()["access_token"]
        clock.forward(minutes=11)

        assert browser.start_linking(token).error == (403, "REAUTHENTICATION_REQUIRED")

    def test_older_session_links_with_the_password(self, browser, api, clock):
        token = api.sign_up()["access_token"]
        clock.forward(minutes=11)

        assert browser.start_linking(token, password=PASSWORD).status == 200
        wrong = browser.start_linking(token, password="not hers at all")
        assert wrong.error == (401, "INVALID_CREDENTIALS")


class TestUnlinking:
    def test_unlinked_provider_no_longer_logs_in(self, browser, api, ann, token):
        browser.link(token, WORK)

        assert unlink(api, token).data == {"message": "The provider was unlinked."}

        assert linked(api, token) == []
        assert browser.sign_in(WORK).data["is_new_user"] is True

    @pytest.mark.parametrize("provider", ["acme", "nowhere"])
    def test_provider_that_is_not_linked_is_refused(self, api, token, provider):
        assert unlink(api, token, provider).error == (400, "OAUTH_NOT_LINKED")

    def test_link_of_another_user_stays(self, browser, api, token):
        eve = api.sign_up("eve@example.com")["access_token"]
        browser.link(eve, WORK)

        assert unlink(api, token).error == (400, "OAUTH_NOT_LINKED")
        assert linked(api, eve) == ["acme"]

    def test_provider_that_was_removed_from_the_settings_is_unlinked(
        self, browser, api, oauth, token
    ):
        browser.link(token, WORK)
        oauth(PROVIDERS={})

        assert unlink(api, token).status == 200

    def test_last_way_to_log_in_stays(self, browser, api):
        token = browser.sign_in().data["access_token"]

        assert unlink(api, token).error == (400, "OAUTH_LAST_LOGIN_METHOD")
        assert linked(api, token) == ["acme"]

    def test_one_of_two_providers_is_unlinked(self, browser, api, providers):
        providers(acme={}, other={})
        token = browser.sign_in().data["access_token"]
        browser.link(token, profile("1"), "other")

        assert unlink(api, token).status == 200
        assert unlink(api, token, "other").error == (400, "OAUTH_LAST_LOGIN_METHOD")

    @pytest.mark.parametrize("disabled", [True, False])
    def test_last_usable_provider_stays_if_the_other_one_cannot_be_used(
        self, browser, api, providers, disabled
    ):
        """The operator has disabled the other provider, or removed it from the settings."""
        providers(acme={}, other={})
        token = browser.sign_in().data["access_token"]
        browser.link(token, profile("1"), "other")
        providers(acme={}, **({"other": {"ENABLED": False}} if disabled else {}))

        assert unlink(api, token).error == (400, "OAUTH_LAST_LOGIN_METHOD")
        assert unlink(api, token, "other").status == 200
        assert linked(api, token) == ["acme"]

    def test_disabled_provider_stays_if_the_user_has_nothing_else(self, browser, api, providers):
        token = browser.sign_in().data["access_token"]
        providers(acme={"ENABLED": False})

        assert unlink(api, token).error == (400, "OAUTH_LAST_LOGIN_METHOD")

    def test_last_usable_provider_is_unlinked_if_there_is_a_password(
        self, browser, api, providers, token
    ):
        providers(acme={}, other={})
        browser.link(token, WORK)
        browser.link(token, profile("1"), "other")
        providers(acme={})

        assert unlink(api, token).status == 200

    def test_last_provider_is_unlinked_if_a_module_offers_another_login(self, browser, api):
        token = browser.sign_in().data["access_token"]

        with accessing(can_log_in=lambda person: person.email == ANN):
            assert unlink(api, token).status == 200

    def test_last_provider_stays_if_no_module_offers_this_user_a_login(self, browser, api):
        token = browser.sign_in().data["access_token"]

        with accessing(can_log_in=lambda person: False):
            assert unlink(api, token).error == (400, "OAUTH_LAST_LOGIN_METHOD")

    def test_revoked_session_unlinks_nothing(self, browser, api, token):
        browser.link(token, WORK)
        api.post("logout", token=token)

        assert unlink(api, token).error == (401, "INVALID_TOKEN")
        assert LinkedAccount.objects.exists()


@pytest.mark.parametrize("provider", ["acme", "other"])
def test_one_subject_at_two_providers_is_unlinked_at_one(browser, api, providers, token, provider):
    """Numeric ids of two providers may be the same."""
    providers(acme={}, other={})
    for name in ("acme", "other"):
        browser.link(token, profile("7"), name)

    assert unlink(api, token, provider).status == 200

    [kept] = {"acme", "other"} - {provider}
    assert linked(api, token) == [kept]
    assert browser.sign_in(profile("7", "x@example.com"), kept).data["is_new_user"] is False


def test_link_of_a_signed_in_user_is_not_that_of_the_sign_up(browser, token):
    browser.link(token, WORK)

    row = LinkedAccount.objects.get()
    assert (row.at_signup, row.email, row.sealed_tokens) == (False, WORK.email, "")
