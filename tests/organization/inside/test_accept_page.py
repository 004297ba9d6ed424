"""The link of an invitation to an organization leads to a page of the pages module."""

import pytest

from authservice.organization.models import Membership, Organization
from tests.pages.reader import Reader
from tests.support.client import PASSWORD
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

NEW = {"name": "Dora", "password": PASSWORD}


@pytest.fixture(autouse=True, scope="module")
def _pages():
    with mounted("authservice.pages"):
        yield


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def invited(ann, acme, post):
    """`invited(email)` is the link of a new invitation."""

    def invited(email="dora@example.com"):
        answer = ann.post(f"org/{acme}/invite", email=email, role="member")
        assert answer.status == 201, answer.body
        return post.link("org-invitation")

    return invited


def test_new_person_joins_by_the_page(reader, acme, invited):
    page = reader.open(invited())
    assert (page.status, page.heading) == (200, "Join Acme")
    assert "dora@example.com" in page.text

    done = reader.send(page, **NEW)

    assert (done.status, done.heading) == (200, "Invitation accepted")
    assert "You are signed in." in done.text  # by Django's session, which this host has
    assert Membership.objects.filter(organization=acme).count() == 2


def test_person_with_an_account_joins_by_a_button(reader, acme, bob, invited):
    page = reader.open(invited(bob.email))
    assert set(page.inputs) == {"token"}

    assert reader.send(page).heading == "Invitation accepted"
    assert Membership.objects.filter(organization=acme).count() == 2


def test_invitation_of_an_inactive_organization_does_not_work(reader, invited):
    link = invited()
    Organization.objects.update(active=False)

    assert reader.open(link).heading == "This link does not work"


def test_name_of_an_organization_is_escaped(reader, invited):
    link = invited()
    Organization.objects.update(name="<i>Acme")

    page = reader.open(link)

    assert page.heading == "Join <i>Acme"
    assert "<i>" not in page.html
