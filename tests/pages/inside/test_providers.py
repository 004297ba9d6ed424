"""Sign-in with a provider by the pages: the buttons, the way back, and linking in the account."""

from urllib.parse import urlencode

import pytest
from django.utils import timezone

from authservice.oauth import storage
from authservice.oauth.storage import Link
from tests.oauth.browsing import profile
from tests.oauth.in_process import SETTINGS, office
from tests.oauth.servers import parameters_of
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import move, prove
from tests.support.people import the_user
from tests.twofactor import people

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _provider(settings):
    office.reset()
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "OAUTH": {"PROVIDERS": {"acme": SETTINGS}}}


def come_back(person, consent, who=None):
    """What the provider does with the browser."""
    return person.open(office.approve(consent, who or profile()))


def link(person):
    """Link the provider to the account of this person; the page after it."""
    page = person.open("/auth/account/security/link?id=acme")
    page = person.send(page, password=PASSWORD)
    assert page.heading == "Continue with Acme"
    return come_back(person, next(link for link in page.links if "acme.example" in link))


def link_of(page):
    return next(link for link in page.links if link.startswith("/auth/oauth/acme"))


def test_visitor_signs_up_with_a_provider_and_sees_the_page_they_wanted(person):
    page = person.open("/orders")

    landed = come_back(person, person.visit(link_of(page)).location)

    assert landed.html == "orders of ann"


def test_second_factor_is_asked_for_after_a_provider(signed_in, ann, api):
    prove()
    link(signed_in)
    factor = people.Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    person = Person()
    page = come_back(person, person.visit(link_of(person.open("/auth/login"))).location)
    assert (page.heading, person.name) == ("Enter your code", "")

    person.send(page, code=factor.code(1))

    assert person.name == "ann"


@pytest.fixture
def code_page(person, ann, api):
    """Ann came back from a provider that is not linked yet; the page and her authenticator app."""
    prove()
    factor = people.Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    page = come_back(person, person.visit(link_of(person.open("/auth/login"))).location)
    assert page.heading == "Enter your code"
    return page, factor


def test_link_that_is_refused_after_the_code_is_a_page(person, code_page):
    """As where it is refused before the code."""
    page, factor = code_page
    subject = {"provider": "acme", "subject": "another-ann", "email": "", "at_signup": True}
    storage.links().add(Link(user_id=the_user().pk, added_at=timezone.now(), **subject))

    after_code = person.send(page, code=factor.code(1))
    before_code = come_back(person, person.visit(link_of(person.open("/auth/login"))).location)

    for page in (after_code, before_code):
        assert (page.status, page.heading) == (409, "This did not work")
        assert "This account or this user of the provider is linked already." in page.text
        assert "/auth/login" in page.links
    assert person.name == ""


def test_login_by_an_address_that_was_replaced_before_the_code_begins_again(person, code_page):
    page, factor = code_page
    move("new@example.com")

    page = person.send(page, code=factor.code(1))

    assert (page.heading, page.notice) == ("Sign in", "That took too long. Sign in again.")


def test_refusal_of_a_provider_is_a_page(person):
    page = person.open("/auth/login")
    begun = person.visit(link_of(page))

    asked = parameters_of(begun.location)
    refused = {"state": asked["state"], "error": "access_denied"}
    page = person.open(f"{asked['redirect_uri']}?{urlencode(refused)}")

    assert (page.status, page.heading) == (400, "This did not work")
    assert person.name == ""


def test_provider_is_linked_and_removed_in_the_account(signed_in):
    page = signed_in.open("/auth/account/security")
    assert "Acme Not connected" in page.text

    page = link(signed_in)
    assert (page.heading, page.notice) == ("Security", "The way to sign in was linked")
    assert "Acme Connected" in page.text

    remove = next(link for link in page.links if "/security/unlink?" in link)
    page = signed_in.send(signed_in.open(remove))
    assert "Acme Not connected" in page.text
    assert signed_in.name == "ann"


def test_provider_cannot_be_linked_by_a_visitor(person, ann):
    assert person.open("/auth/account/security/link?id=acme").heading == "Sign in"


@pytest.mark.parametrize("signed_in_again", [True, False])
def test_provider_is_not_linked_while_another_user_is_signed_in(
    signed_in, api, ann, signed_in_again
):
    """Somebody left this browser without a logout, and only Django's cookie ended with it."""
    page = signed_in.open("/auth/account/security/link?id=acme")
    page = signed_in.send(page, password=PASSWORD)
    consent = next(link for link in page.links if "acme.example" in link)
    del signed_in.client.cookies["sessionid"]
    if signed_in_again:
        api.sign_up("bob@example.com")
        signed_in.sign_in("bob@example.com", PASSWORD)

    come_back(signed_in, consent)

    linked = api.get("oauth/linked", token=ann["access_token"]).data
    assert bool(linked["providers"] if isinstance(linked, dict) else linked) is not signed_in_again
