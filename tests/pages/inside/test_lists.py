"""Long lists on the pages of the account: some rows, and links to the others."""

import pytest

from authservice.organization.models import Membership, Organization
from authservice.pages import account_pages
from tests.support.flows import prove

pytestmark = pytest.mark.django_db
SECTION = "/auth/account/organizations"


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(account_pages, "PER_PAGE", 2)


@pytest.fixture
def acme(signed_in):
    """The id of an organization of Ann."""
    prove()
    page = signed_in.send(signed_in.open(f"{SECTION}/create"), name="Acme")
    return page.link("Open").partition("id=")[2]


def test_members_and_invitations_have_links_of_their_own(signed_in, acme, api):
    invite = signed_in.open(f"{SECTION}/invite?id={acme}")
    for number in range(3):
        member = api.sign_up(f"member-{number}@example.com")["user"]["id"]
        Membership.objects.create(organization_id=acme, user_id=member)
        signed_in.post(invite, email=f"guest-{number}@example.com", role="member")

    page = signed_in.open(f"{SECTION}?id={acme}")
    assert "1-2 of 4" in page.text
    assert "1-2 of 3" in page.text
    url = next(link for link in page.links if "members=2" in link)
    further = signed_in.open(SECTION + url)

    assert "3-4 of 4" in further.text
    assert "1-2 of 3" in further.text
    # Ann is an owner, on whichever part of the list she is.
    assert page.link("Delete") == further.link("Delete")
    assert any("members=2" in link and "invitations=2" in link for link in further.links)


def test_organizations_are_shown_in_parts(signed_in, acme):
    ann = Membership.objects.get().user_id
    for number in range(2):
        row = Organization.objects.create(name=f"Shop {number}", slug=f"shop-{number}")
        Membership.objects.create(organization=row, user_id=ann)

    page = signed_in.open(SECTION)

    assert "1-2 of 3" in page.text
    assert "3-3 of 3" in signed_in.follow(page, "Next").text


def test_list_that_fits_has_no_links(signed_in, acme):
    page = signed_in.open(SECTION)

    assert "1-1 of 1" not in page.text
    assert 'aria-label="Your organizations"' not in page.html


@pytest.mark.parametrize("offset", ["x", "-1", "1" * 12, "999999999", ""])
def test_any_part_may_be_asked_for(signed_in, offset):
    assert signed_in.open(f"/auth/account/activity?offset={offset}").status == 200


def test_link_before_a_part_past_the_end_leads_to_rows(signed_in):
    page = signed_in.open("/auth/account/activity?offset=500")

    assert "Signed up." in signed_in.follow(page, "Newer").text
