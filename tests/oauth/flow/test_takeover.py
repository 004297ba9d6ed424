"""An attacker who prepares an account before its owner logs in with a provider ends with nothing
(account pre-hijacking: Sudhodanan and Paverd, USENIX Security 2022)."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.core.users.identifiers import phone_key
from authservice.oauth.models import LinkedAccount, RemovedLink
from authservice.oauth.storage import DatabaseUsers
from tests.oauth.browsing import ANN, profile
from tests.oauth.in_process import office
from tests.support.client import PASSWORD
from tests.support.flows import NEW, PHONE, Flows, account, prove
from tests.support.people import the_user, users
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

EVE = profile("eve-at-acme", email="eve@example.com")


@pytest.fixture
def attacker(api):
    """Eve signed up with Ann's address; the fixture is her tokens."""
    return api.sign_up(phone_number=PHONE)


def links():
    return set(LinkedAccount.objects.values_list("provider", "subject"))


def test_password_and_sessions_of_an_attacker_end(api, browser, attacker):
    """The classic-federated merge and the unexpired session attack."""
    answer = browser.sign_in()

    assert answer.data["user"]["id"] == attacker["user"]["id"]
    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"
    assert api.get("me", token=attacker["access_token"]).status == 401
    assert api.post("refresh", refresh_token=attacker["refresh_token"]).status == 401
    assert Session.objects.filter(ended_at=None).count() == 1
    assert api.get("me", token=answer.data["access_token"]).data["email_verified"] is True


def test_identity_that_an_attacker_linked_ends(browser, other_browser, providers, attacker):
    """The trojan identifier attack."""
    providers(acme={}, other={})
    other_browser.link(attacker["access_token"], EVE, "other")

    browser.sign_in()

    assert links() == {("acme", "ann-at-acme")}
    answer = other_browser.sign_in(EVE, "other")
    assert answer.data["user"]["email"] == "eve@example.com"
    assert users() == 2


def test_identity_of_the_same_provider_that_an_attacker_linked_ends(
    browser, other_browser, attacker
):
    other_browser.link(attacker["access_token"], EVE)

    assert browser.sign_in().status == 200
    assert links() == {("acme", "ann-at-acme")}


def test_number_of_an_attacker_resets_no_password(api, post, browser, attacker):
    code_before = Flows(api, post)
    account_before = account()
    type(account_before).objects.update(verified_phone_key=phone_key(PHONE))
    code = code_before.reset_code()

    browser.sign_in()

    assert code_before.reset_by_code(code).status == 400
    assert account().phone_number == ""


def test_second_factor_of_an_attacker_ends(clock, api, browser, attacker):
    eve = Person(api, ANN)
    eve.token, eve.user_id = attacker["access_token"], attacker["user"]["id"]
    eve.enrol()

    assert "access_token" in browser.sign_in().data


def test_linking_that_an_attacker_has_started_ends(browser, other_browser, providers, attacker):
    """The unexpired linking attack: the flow was started before the owner logged in."""
    providers(acme={}, other={})
    url = other_browser.start_linking(attacker["access_token"], "other").data["url"]
    browser.sign_in()

    answer = other_browser.come_back(office.approve(url, EVE))

    assert answer.status == 400
    assert links() == {("acme", "ann-at-acme")}


def test_account_made_with_an_unverifying_provider_is_taken_over_by_its_owner(
    browser, other_browser, providers
):
    """The non-verifying identity provider attack."""
    providers(acme={}, careless={})
    hers = profile("eve-at-careless", email_verified=False)
    attacker = other_browser.sign_in(hers, "careless").data

    browser.sign_in()

    assert links() == {("acme", "ann-at-acme")}
    assert other_browser.get("me", Authorization=f"Bearer {attacker['access_token']}").status == 401
    assert other_browser.sign_in(hers, "careless").error == (409, "OAUTH_EMAIL_EXISTS")


def test_identity_linked_by_an_attacker_ends_by_a_mailed_reset(api, post, other_browser, attacker):
    other_browser.link(attacker["access_token"], EVE)
    flows = Flows(api, post)

    assert flows.reset(flows.reset_token()).status == 200

    assert links() == set()


def test_owner_gets_a_mail_with_a_link_to_set_a_password(api, post, browser, attacker):
    browser.sign_in()
    flows = Flows(api, post)

    assert flows.reset(post.token(kinds.ACCESS_WIPED)).status == 200
    api.log_in(password=NEW)


def test_second_login_removes_nothing(api, post, browser, attacker):
    browser.sign_in()
    flows = Flows(api, post)
    flows.reset(post.token(kinds.ACCESS_WIPED))
    tokens = api.log_in(password=NEW)
    browser.link(tokens["access_token"])

    browser.sign_in()

    assert api.get("me", token=tokens["access_token"]).status == 200
    assert links() == {("acme", "ann-at-acme")}


def test_request_with_a_valid_access_token_of_the_account_removes_nothing(api, browser, attacker):
    bearer = f"Bearer {attacker['access_token']}"

    answer = browser.sign_in(Authorization=bearer)

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=attacker["access_token"]).data["phone_number"] == PHONE
    api.log_in()


def test_access_token_of_another_account_protects_nothing(api, browser, attacker):
    eve = api.sign_up("eve@example.com")

    browser.sign_in(Authorization=f"Bearer {eve['access_token']}")

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_setting_turned_off_keeps_earlier_access(api, browser, configure, attacker):
    configure(CORE={"WIPE_UNPROVEN": False})

    browser.sign_in()

    assert api.get("me", token=attacker["access_token"]).status == 200
    api.log_in()


def test_address_verified_by_a_program_is_not_proven(api, browser, attacker):
    """A mail scanner opened the link: the user who signed up has not proven the address."""
    type(account()).objects.update(verified_email_key=account().email_key)

    browser.sign_in()

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_unverified_user_of_a_provider_keeps_access_when_the_provider_verifies(api, browser):
    first = browser.sign_in(profile(email_verified=False)).data
    browser.sign_in()

    assert api.get("me", token=first["access_token"]).status == 200
    assert LinkedAccount.objects.get().at_signup


def test_identity_linked_later_proves_an_address_as_the_first(
    api, browser, attacker, other_browser
):
    """The attacker's session linked the owner's identity while its address was not verified."""
    hers = profile(email_verified=False)
    other_browser.link(attacker["access_token"], hers)

    answer = browser.sign_in()

    assert api.get("me", token=attacker["access_token"]).status == 401
    assert api.get("me", token=answer.data["access_token"]).status == 200
    assert links() == {("acme", "ann-at-acme")}
    # A record of the removal would prevent that this identity is linked by address later.
    assert not RemovedLink.objects.exists()


def test_password_set_by_the_owner_is_kept(api, browser, ann):
    browser.sign_in()

    assert the_user().has_usable_password()
    api.log_in()


def test_proven_account_keeps_its_sessions(api, browser, ann):
    prove()
    browser.sign_in()

    assert api.get("me", token=ann["access_token"]).status == 200


def test_reset_between_the_reads_of_a_login_leaves_the_intruder_outside(
    api, post, browser, other_browser, attacker, monkeypatch
):
    """The callback has found the link; the owner resets before it finds the user of the link."""
    other_browser.link(attacker["access_token"], EVE)
    flows = Flows(api, post)
    token = flows.reset_token()
    find = DatabaseUsers.find

    def find_late(storage, user_id):
        monkeypatch.undo()
        assert flows.reset(token).status == 200
        return find(storage, user_id)

    monkeypatch.setattr(DatabaseUsers, "find", find_late)
    entered = other_browser.sign_in(EVE)

    assert entered.data["user"]["email"] == "eve@example.com"
    assert links() == {("acme", "eve-at-acme")}
