"""Links in recoveries: a reset removes recent ones, "this was not me" also brings removed ones
back."""

import pytest
from django.utils import timezone

from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.oauth import linking
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import profile
from tests.support.flows import PHONE, account, prove

pytestmark = pytest.mark.django_db

EVE = profile("eve-at-acme", email="eve@example.com")


@pytest.fixture(autouse=True)
def _still(clock):
    """The clock does not run, so that a test can move it by days."""


@pytest.fixture
def reset(flows):
    def reset():
        assert flows.reset(flows.reset_token()).status == 200

    return reset


def subjects():
    return set(LinkedAccount.objects.values_list("subject", flat=True))


def unlink(api, token, provider="acme"):
    assert api.request("DELETE", f"oauth/{provider}", token=token).status == 200


def test_reset_removes_a_link_of_the_last_three_days(browser, ann, clock, reset):
    clock.forward(days=30)
    token = browser.api.log_in()["access_token"]
    browser.link(token, EVE)
    clock.forward(hours=71)

    reset()

    assert subjects() == set()


def test_reset_keeps_an_older_link(browser, ann, clock, reset):
    browser.link(ann["access_token"], EVE)
    clock.forward(hours=73)

    reset()

    assert subjects() == {"eve-at-acme"}


def test_reset_keeps_the_link_of_the_sign_up(browser, reset):
    browser.sign_in()

    reset()

    assert subjects() == {"ann-at-acme"}


def test_reset_removes_a_link_from_before_a_recent_proof(browser, api, clock, reset):
    browser.link(api.sign_up()["access_token"], EVE)
    clock.forward(days=30)
    prove()
    Account.objects.update(email_proven_at=timezone.now())

    reset()

    assert subjects() == set()


def test_link_of_an_unverifying_provider_counts_as_added_at_the_proof(
    browser, clock, flows, post, reset
):
    """The owner of the mailbox opens the verification link of an attacker's sign-up."""
    browser.sign_in(profile("eve-at-acme", email_verified=False))
    clock.forward(days=30)
    flows.click(flows.email_token(), **{"Accept": "application/json"})

    assert "email-confirmed" in post.kinds()
    reset()
    assert subjects() == set()


def test_not_me_removes_a_linked_provider(api, browser, ann, post):
    browser.link(ann["access_token"], EVE)
    token = post.token("provider-linked")

    assert api.request("POST", "account/secure", {"token": token}).status == 200

    assert subjects() == set()
    assert api.get("me", token=ann["access_token"]).status == 401
    assert browser.sign_in(EVE).data["is_new_user"] is True


def test_not_me_removes_a_link_whose_request_began_before_the_change(
    api, browser, ann, post, clock, monkeypatch
):
    """The thief changes the number while the request that links waits for the provider."""
    link = linking._link

    def change_and_link(*args):
        clock.forward(seconds=10)
        changed = api.request("PUT", "profile", {"phone": PHONE}, token=ann["access_token"])
        assert changed.status == 200
        link(*args)

    monkeypatch.setattr(linking, "_link", change_and_link)
    browser.link(ann["access_token"], EVE)
    assert subjects() == {"eve-at-acme"}

    later = post.token("provider-linked")
    api.request("POST", "account/secure", {"token": post.token(kinds.PHONE_CHANGED)})

    assert subjects() == set()
    # The link of the later change would bring the number back.
    api.request("POST", "account/secure", {"token": later})
    assert account().phone_number == ""


def test_not_me_keeps_earlier_links(api, browser, ann, post, clock, providers):
    providers(acme={}, other={})
    browser.link(ann["access_token"], profile())
    clock.forward(hours=1)
    token = api.log_in()["access_token"]
    browser.link(token, EVE, "other")

    api.request("POST", "account/secure", {"token": post.token("provider-linked")})

    assert subjects() == {"ann-at-acme"}


def test_not_me_restores_the_link_of_the_sign_up(api, browser, post, clock, providers):
    providers(acme={}, other={})
    browser.link(browser.sign_in().data["access_token"], profile("1"), "other")
    clock.forward(days=4)
    unlink(api, browser.sign_in().data["access_token"])

    api.request("POST", "account/secure", {"token": post.token("provider-unlinked")})

    assert LinkedAccount.objects.get(provider="acme").at_signup


def test_not_me_replaces_the_link_of_an_intruder_by_the_one_before(api, browser, ann, post, clock):
    browser.link(ann["access_token"], profile())
    clock.forward(days=4)
    stolen = api.log_in()["access_token"]
    unlink(api, stolen)
    token = post.token("provider-unlinked")
    clock.forward(minutes=1)
    browser.link(stolen, EVE)

    api.request("POST", "account/secure", {"token": token})

    assert subjects() == {"ann-at-acme"}


def test_not_me_restores_no_link_that_another_account_has_now(api, browser, ann, post, clock):
    browser.link(ann["access_token"], EVE)
    clock.forward(days=4)
    unlink(api, api.log_in()["access_token"])
    token = post.token("provider-unlinked")
    browser.sign_in(EVE)

    assert api.request("POST", "account/secure", {"token": token}).status == 200

    assert str(LinkedAccount.objects.get().user_id) != ann["user"]["id"]


def test_links_are_deleted_with_their_user(browser, api, ann):
    browser.sign_in()

    LinkedAccount.objects.get().user.delete()

    assert not LinkedAccount.objects.exists()
    assert browser.sign_in().data["is_new_user"] is True
