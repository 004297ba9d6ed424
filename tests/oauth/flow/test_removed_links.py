""" "This was not me" restores the removed links of the owner, and never one of an intruder."""

from datetime import timedelta

import pytest
from django.utils import timezone

from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.oauth import eviction
from authservice.oauth.models import LinkedAccount, RemovedLink, RestorableLink
from tests.oauth.browsing import ANN, profile
from tests.support.client import PASSWORD
from tests.support.flows import NEW, PHONE, account, prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

EVE = profile("eve-at-acme", email="eve@example.com")
IN_JSON = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def _providers(clock, providers):
    """Only a test moves the clock by days."""
    providers(acme={}, other={}, third={})


@pytest.fixture
def unlink(api):
    def unlink(token, provider="acme"):
        assert api.request("DELETE", f"oauth/{provider}", token=token).status == 200

    return unlink


@pytest.fixture
def not_me(api):
    """`not_me(token)` presses the button of the link "this was not me"."""

    def not_me(token):
        assert api.request("POST", "account/secure", {"token": token}).status == 200

    return not_me


@pytest.fixture
def replace_address(api, post):
    """`replace_address(token)` gives the account another address, which another client confirms."""

    def replace_address(token):
        wanted = {"email": "eve@example.com", "password": PASSWORD}
        assert api.request("POST", "change-email", wanted, token=token).status == 200
        confirmed = {"token": post.token(kinds.CHANGE_EMAIL)}
        assert api.request("POST", "change-email/confirm", confirmed).status == 200
        proven_at = account("eve@example.com").email_proven_at
        assert timezone.now() - proven_at < timedelta(seconds=1)

    return replace_address


@pytest.fixture
def link_of_days(browser, ann, api, clock):
    """`link_of_days(4)` links a provider so many days ago; returns a new access token of Ann."""

    def link_of_days(days, who=None, provider="acme"):
        browser.link(ann["access_token"], who or profile(), provider)
        clock.forward(days=days)
        return api.log_in()["access_token"]

    return link_of_days


def links():
    return set(LinkedAccount.objects.values_list("provider", "subject"))


def test_not_me_restores_a_link_of_the_owner(browser, ann, post, link_of_days, unlink, not_me):
    unlink(link_of_days(4))

    not_me(post.token("provider-unlinked"))

    assert links() == {("acme", "ann-at-acme")}
    assert browser.sign_in().data["user"]["id"] == ann["user"]["id"]


@pytest.mark.parametrize(("proven_days_ago", "restored"), [(4, True), (0, False)])
def test_not_me_restores_a_link_by_the_proof_of_the_replaced_address(
    post, link_of_days, unlink, replace_address, not_me, proven_days_ago, restored
):
    """The intruder proves another address, which says nothing about the links of the owner."""
    token = link_of_days(4)
    proven_at = timezone.now() - timedelta(days=proven_days_ago)
    Account.objects.update(email_proven_at=proven_at)
    unlink(token)
    secure = post.token("provider-unlinked")
    replace_address(token)

    not_me(secure)

    assert (links() == {("acme", "ann-at-acme")}) is restored


def test_owner_of_a_new_address_gets_no_link_of_the_account_before(
    browser, ann, post, link_of_days, unlink, replace_address, not_me
):
    """An attacker gives an account the victim's address, and the victim confirms it."""
    browser.link(ann["access_token"], profile("ann-at-other"), "other")
    token = link_of_days(4)
    unlink(token)
    replace_address(token)

    not_me(post.token(kinds.EMAIL_CONFIRMED))

    assert links() == set()


@pytest.mark.parametrize("mail", ["provider-linked", "provider-unlinked"])
def test_not_me_restores_no_link_that_the_intruder_added_and_removed(
    browser, ann, clock, post, unlink, not_me, mail
):
    """The intruder has a stolen access token; the owner opens either of the two mails."""
    clock.forward(minutes=1)
    browser.link(ann["access_token"], EVE)
    clock.forward(minutes=1)
    unlink(ann["access_token"])

    not_me(post.token(mail))

    assert links() == set()
    assert browser.sign_in(EVE).data["is_new_user"] is True


def test_not_me_restores_no_short_lived_link_if_the_mail_is_opened_late(
    browser, ann, clock, post, unlink, not_me
):
    """The link is older than 72 hours now, but it existed for ten minutes only."""
    browser.link(ann["access_token"], EVE)
    clock.forward(minutes=10)
    unlink(ann["access_token"])
    clock.forward(hours=71, minutes=55)

    not_me(post.token("provider-unlinked"))

    assert links() == set()


@pytest.mark.parametrize(("hours", "restored"), [(71, False), (73, True)])
def test_not_me_restores_a_link_that_existed_for_72_hours(
    browser, api, ann, clock, post, unlink, not_me, hours, restored
):
    browser.link(ann["access_token"])
    clock.forward(hours=hours)
    unlink(api.log_in()["access_token"])

    not_me(post.token("provider-unlinked"))

    assert (links() == {("acme", "ann-at-acme")}) is restored


def test_not_me_restores_no_link_from_before_the_proof(browser, api, flows, post, unlink, not_me):
    """An attacker signs up with the victim's address, links a provider and unlinks it. The victim
    confirms the address in another browser."""
    attacker = api.sign_up(phone_number=PHONE)["access_token"]
    browser.link(attacker, EVE)
    unlink(attacker)
    flows.click(flows.email_token(), **IN_JSON)

    not_me(post.token("email-confirmed"))

    assert links() == set()
    assert browser.sign_in(EVE).data["is_new_user"] is True


def test_not_me_restores_no_sign_up_link_from_before_the_proof(
    browser, flows, post, unlink, not_me
):
    """The attacker signs up by a provider that does not verify the victim's address."""
    careless = profile("eve-at-acme", email_verified=False)
    attacker = browser.sign_in(careless).data["access_token"]
    browser.link(attacker, profile("eve-at-other", "eve@example.com"), "other")
    unlink(attacker)
    flows.click(flows.email_token(), **IN_JSON)

    not_me(post.token("email-confirmed"))
    assert flows.reset(post.token("account-secured")).status == 200

    assert links() == set()
    assert browser.sign_in(careless).error == (409, "OAUTH_EMAIL_EXISTS")


def test_restore_skips_a_link_that_was_removed_before_the_proof(link_of_days, unlink):
    """Whatever the change was that the owner undoes, and however old the link is."""
    Account.objects.update(verified_email_key="", proven_email_key="")
    token = link_of_days(4, EVE)
    since = timezone.now()
    unlink(token)
    prove()

    eviction.account_access.restore(lookup.get_person(the_user()), since)

    assert links() == set()


def test_link_counts_as_added_at_a_later_proof_of_the_same_address(
    post, link_of_days, unlink, not_me
):
    unlink(link_of_days(4, EVE))
    Account.objects.update(email_proven_at=timezone.now())

    not_me(post.token("provider-unlinked"))

    assert links() == set()


def test_not_me_after_a_reset_restores_no_link_that_the_owner_removed(
    browser, ann, clock, flows, post, unlink, not_me
):
    browser.link(ann["access_token"], EVE)
    secure = post.token("provider-linked")
    clock.forward(minutes=1)
    unlink(ann["access_token"])
    assert flows.reset(flows.reset_token()).status == 200

    not_me(secure)

    assert links() == set()
    assert browser.sign_in(EVE).data["is_new_user"] is True


def test_not_me_after_a_reset_restores_no_older_link(
    browser, clock, flows, post, link_of_days, unlink, not_me
):
    token = link_of_days(4, EVE)
    browser.link(token, profile("eve-at-other"), "other")
    clock.forward(minutes=1)
    unlink(token)
    assert flows.reset(flows.reset_token()).status == 200

    not_me(post.token("provider-linked"))

    assert links() == set()


def test_second_not_me_restores_no_link_from_before_the_first(
    browser, clock, post, link_of_days, unlink, not_me
):
    token = link_of_days(4, EVE)
    browser.link(token, profile("eve-at-other"), "other")
    first = post.token("provider-linked")
    clock.forward(minutes=1)
    unlink(token)
    clock.forward(minutes=1)
    browser.link(token, profile("eve-at-third"), "third")

    not_me(post.token("provider-linked"))
    not_me(first)

    assert links() == set()


def test_not_me_after_a_wipe_restores_no_link(post, link_of_days, unlink, not_me):
    unlink(link_of_days(4, EVE))
    eviction.account_access.first_proof(lookup.get_person(the_user()))

    not_me(post.token("provider-unlinked"))

    assert links() == set()


def test_restored_link_is_not_remembered_as_removed(
    api, flows, post, clock, link_of_days, unlink, not_me
):
    """It can be removed and restored again."""
    unlink(link_of_days(4))
    not_me(post.token("provider-unlinked"))
    assert not RestorableLink.objects.exists()
    assert not RemovedLink.objects.exists()  # an import may have it, too
    assert flows.reset(post.token("account-secured")).status == 200
    clock.forward(minutes=1)
    unlink(api.log_in(ANN, password=NEW)["access_token"])

    not_me(post.token("provider-unlinked"))

    assert links() == {("acme", "ann-at-acme")}
