"""What the export of a user says of organizations that the user may not read any more."""

import json

import pytest

from authservice.core.staff import export_user
from authservice.core.users import lookup
from authservice.kernel import clock as source
from authservice.organization.models import Organization, OrganizationInvitation
from tests.organization.inside.people import join
from tests.support.flows import prove

pytestmark = pytest.mark.django_db

FOUNDED = "founded_organizations"
SENT, RECEIVED = "organization_invitations_sent", "organization_invitations_received"


def parts_of(person):
    document = json.loads(b"".join(export_user.document(lookup.find_by_id(person.id))))
    return {part["name"]: part["rows"] for part in document["data"]["parts"]}


def change(org_id):
    """What the members of an organization store in it today."""
    Organization.objects.filter(pk=org_id).update(
        name="Renamed", slug="renamed", logo_url="https://renamed.example/", metadata='"renamed"'
    )


@pytest.fixture
def removed(ann, acme, bob):
    """Ann, who founded Acme and invited Bob, and whom the other owner has removed."""
    assert ann.post(f"org/{acme}/invite", email=bob.email, role="member").status == 201
    join(acme, bob, "owner")
    assert bob.delete(f"org/{acme}/members/{ann.id}").status == 200
    change(acme)
    return ann


@pytest.fixture
def invited(ann, acme, bob):
    """Bob, who has an invitation to Acme and a verified address."""
    prove(bob.email)
    assert ann.post(f"org/{acme}/invite", email=bob.email, role="member").status == 201
    return bob


def test_removed_founder_reads_nothing_of_the_organization(removed, acme):
    assert removed.get(f"org/{acme}").status == 403
    parts = parts_of(removed)

    [founded] = parts[FOUNDED]
    assert set(founded) == {"id", "created_at"}
    assert founded["id"] == acme
    assert "renamed" not in json.dumps(parts).lower()


def test_removed_founder_reads_invitations_without_the_organization(removed, acme, bob):
    [sent] = parts_of(removed)[SENT]

    assert (sent["organization_id"], sent["email"]) == (acme, bob.email)
    assert "organization_name" not in sent


def test_founder_who_is_a_member_reads_the_organization(ann, acme, bob):
    ann.post(f"org/{acme}/invite", email=bob.email, role="member")
    change(acme)

    parts = parts_of(ann)

    [founded] = parts[FOUNDED]
    assert (founded["name"], founded["slug"]) == ("Renamed", "renamed")
    assert founded["metadata"] == '"renamed"'
    assert [row["organization_name"] for row in parts[SENT]] == ["Renamed"]


def test_membership_of_another_user_shows_nothing(removed, acme, bob):
    """Bob is still a member: only the membership of the user counts."""
    assert "renamed" not in json.dumps(parts_of(removed)).lower()
    assert [row["organization_name"] for row in parts_of(bob)["memberships"]] == ["Renamed"]


def test_recipient_reads_who_invites_them_while_they_can_accept(invited):
    assert [row["organization_name"] for row in parts_of(invited)[RECEIVED]] == ["Acme"]


@pytest.mark.parametrize(
    "closed",
    [
        {"status": "declined"},
        {"status": "cancelled"},
        {"status": "accepted"},
        {"expires_at": source.now()},
    ],
)
def test_recipient_of_a_closed_invitation_reads_no_name(invited, acme, closed):
    OrganizationInvitation.objects.update(**closed)
    change(acme)

    [row] = parts_of(invited)[RECEIVED]

    assert row["organization_id"] == acme
    assert "organization_name" not in row


def test_recipient_reads_no_name_of_an_inactive_organization(invited):
    Organization.objects.update(active=False)

    [row] = parts_of(invited)[RECEIVED]

    assert "organization_name" not in row


def test_recipient_who_joined_reads_the_name(invited, acme):
    OrganizationInvitation.objects.update(status="accepted")
    join(acme, invited)

    assert [row["organization_name"] for row in parts_of(invited)[RECEIVED]] == ["Acme"]
