"""Lists of invitations, their events and their cleanup."""

from datetime import timedelta

import pytest

from authservice.organization import invitations as rules
from authservice.organization.models import Organization, OrganizationInvitation
from tests.organization.inside.people import Person
from tests.organization.inside.test_invitations import CAT, invite, listed

pytestmark = pytest.mark.django_db


def test_invitations_are_paged_sorted_filtered_and_searched(ann, acme):
    for name in ("a", "b", "c"):
        invite(ann, acme, f"{name}@example.com")
    ann.delete(f"org/{acme}/invitations/{listed(ann, acme)[0]['id']}")

    def emails(more):
        return [row["email"][0] for row in listed(ann, acme, more)]

    assert emails("") == ["c", "b", "a"]
    assert emails("?limit=1&offset=1") == ["b"]
    assert emails("?sort_field=email&sort_dir=asc") == ["a", "b", "c"]
    assert emails("?sort_field=status&sort_dir=asc&limit=1") == ["c"]
    assert emails("?status=cancelled") == ["c"]
    assert emails("?query=B%40") == ["b"]
    answer = ann.get(f"org/{acme}/invitations?limit=1&status=pending")
    assert answer.headers["X-Total-Count"] == "2"
    assert ann.get(f"org/{acme}/invitations?status=x").error == (400, "VALIDATION_ERROR")


def test_recipient_lists_pending_invitations(api, ann, bob, acme, no_floods):
    cat = Person(api, "cat")
    other = bob.found("Other")
    first = invite(ann, acme, "Cat@Example.com").data
    first.pop("mailed")
    invite(bob, other)
    bob.delete(f"org/{other}/invitations/{listed(bob, other)[0]['id']}")

    answer = cat.get("org/my/invitations")

    shown = {"name": "Acme", "slug": "acme", "logo_url": ""}
    assert answer.data == [{**first, "organization": shown}]
    assert answer.headers["X-Total-Count"] == "1"
    Organization.objects.update(active=False)
    assert cat.get("org/my/invitations").data == []


def test_deleted_organization_takes_its_invitations(ann, acme):
    invite(ann, acme)

    ann.delete(f"org/{acme}")

    assert not OrganizationInvitation.objects.exists()


def test_events_of_a_sender(ann, acme, events, no_floods):
    sent = invite(ann, acme, role="admin").data["id"]
    ann.post(f"org/{acme}/invitations/{sent}/resend")
    ann.delete(f"org/{acme}/invitations/{sent}")

    assert [event.action for event in events()] == [
        *("org.invitation.sent", "org.invitation.sent", "org.invitation.cancelled")
    ]
    known = {"invitation": sent, "organization": acme, "email": CAT, "role": "admin"}
    assert events()[0].metadata == known
    assert (events()[0].user, str(events()[0].target.pk)) == (ann.user, acme)


def test_cleanup_deletes_closed_and_expired_invitations_after_the_configured_time(
    clock, ann, acme, organization
):
    organization(INVITATIONS_KEPT=timedelta(days=10))
    invite(ann, acme)
    dog = invite(ann, acme, "dog@example.com").data["id"]
    ann.delete(f"org/{acme}/invitations/{dog}")

    def expired():
        return sorted(row.email[0] for row in rules.expired_rows()["invitations to organizations"])

    clock.forward(days=9)
    assert expired() == []
    clock.forward(days=1)
    assert expired() == ["d"]
    clock.forward(days=7)
    ann.log_in()
    assert expired() == ["c", "d"]
