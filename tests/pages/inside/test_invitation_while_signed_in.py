"""What a user of the pages gets who opens the link of an invitation while signed in."""

import pytest

from authservice.core.models import Session
from authservice.organization.models import Membership, Organization
from tests.pages.inside.conftest import kept
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

BOB, NEW_PASSWORD = "bob@example.com", "another-long-Passphrase-9"
SECTION = "/auth/account/organizations"


@pytest.fixture
def bob(api, signed_in):
    """Bob's browser, which keeps him signed in; Umbrella is his active organization."""
    api.sign_up(BOB, username="bob")
    prove(BOB)
    bob = Person()
    bob.enter(BOB, PASSWORD, remember="on")
    umbrella = Organization.objects.create(name="Umbrella", slug="umbrella")
    Membership.objects.create(organization=umbrella, user=the_user(BOB), role="owner")
    bob.post(bob.open(f"{SECTION}/switch?id={umbrella.pk}"))
    return bob


@pytest.fixture
def link(signed_in, bob, post):
    """The link of an invitation to Acme, mailed to Bob."""
    prove()
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user("ann@example.com"), role="owner")
    form = signed_in.open(f"{SECTION}/invite?id={acme.pk}")
    signed_in.post(form, email=BOB, role="member")
    return post.link("org-invitation")


def sessions_of_bob():
    return Session.objects.filter(user=the_user(BOB))


def test_accepted_invitation_begins_a_session_of_the_browser(bob, link):
    [before] = [row for row in sessions_of_bob() if row.organization_id]
    assert bob.client.cookies["sessionid"]["max-age"]

    done = bob.send(bob.open(link))

    assert done.heading == "Invitation accepted"
    assert not bob.client.cookies["sessionid"]["max-age"]
    assert Session.objects.get(pk=before.pk).ended_at is not None
    assert not sessions_of_bob().filter(ended_at=None, organization_id__isnull=False).exists()
    assert bob.name


def test_link_from_before_a_change_of_the_password_does_not_work(bob, link):
    form = bob.open("/auth/account/security/password")
    bob.send(form, old_password=PASSWORD, new_password=NEW_PASSWORD)
    assert the_user(BOB).check_password(NEW_PASSWORD)

    page = bob.open(link)

    assert (page.status, page.heading) == (200, "Join Acme")
    assert bob.send(page).heading == "This link does not work"
    assert bob.name  # is still signed in


def test_accepted_invitation_keeps_no_token_cookies(link, token_cookies):
    bob = Person()

    bob.send(bob.open(link))

    assert bob.name == "bob"
    assert not kept(bob) & {"authservice_access", "authservice_refresh"}


def test_accepted_invitation_ends_the_session_of_the_token_cookies_of_another_user(
    link, api, token_cookies
):
    eve = api.sign_up("eve@example.com")
    bob = Person()
    for name in ("access", "refresh"):
        bob.client.cookies[f"authservice_{name}"] = eve[f"{name}_token"]

    bob.send(bob.open(link))

    assert bob.name == "bob"
    assert Session.objects.get(user=eve["user"]["id"]).end_reason == "logout"
    assert not kept(bob) & {"authservice_access", "authservice_refresh"}
