"""The active organization: claims after a switch and a refresh, and login responses."""

import jwt
import pytest

from authservice.core.models import Session
from authservice.organization.models import Membership, Organization
from tests.organization.inside.people import join

pytestmark = pytest.mark.django_db

CLAIMS = ("org_id", "org_slug", "org_role")


def claims(person):
    payload = jwt.decode(person.token, options={"verify_signature": False})
    return tuple(payload.get(name) for name in CLAIMS)


NONE = (None, None, None)


def test_login_has_no_active_organization(ann, acme, api):
    ann.keep(api.log_in(ann.email))

    assert claims(ann) == NONE


def test_login_lists_the_organizations(ann, bob, api):
    acme, other = ann.found("Acme"), bob.found("Other")
    join(other, ann, "admin")

    extras = api.log_in(ann.email)["data"]

    assert extras == {
        "organizations": [
            {"id": acme, "name": "Acme", "slug": "acme", "role": "owner"},
            {"id": other, "name": "Other", "slug": "other", "role": "admin"},
        ],
        "active_organization": None,
    }


def test_login_lists_neither_inactive_organizations_nor_those_of_others(ann, bob, api):
    acme, closed = ann.found("Acme"), ann.found("Closed")
    bob.found("Other")
    join(acme, bob)
    Organization.objects.filter(pk=closed).update(active=False)

    [own] = api.log_in(ann.email)["data"]["organizations"]

    assert (own["id"], own["role"]) == (acme, "owner")


def crowded(person, number):
    made = Organization.objects.bulk_create(
        Organization(name="Acme", slug=f"crowded-{number}") for number in range(number)
    )
    Membership.objects.bulk_create(Membership(organization=row, user=person.user) for row in made)


def test_login_lists_at_most_a_hundred_organizations(ann, api):
    crowded(ann, 101)

    assert len(api.log_in(ann.email)["data"]["organizations"]) == 100


def test_acceptance_names_the_active_organization_beyond_the_first_hundred(ann, bob, post):
    crowded(ann, 100)
    last = ann.found("Last")
    ann.switch(last)
    bob.post(f"org/{bob.found('Other')}/invite", email=ann.email)
    body = {"token": post.token("org-invitation")}

    accepted = ann.request("POST", "org/invitations/accept", body).data["data"]

    assert (len(accepted["organizations"]), accepted["active_organization"]["id"]) == (100, last)


def test_signup_lists_no_organizations(api):
    empty = {"organizations": [], "active_organization": None}

    assert api.sign_up("new@example.com")["data"] == empty


def test_switch_adds_the_claims(ann, acme):
    answer = ann.switch(acme)

    assert set(answer.data) == {"access_token", "refresh_token", "expires_in", "message"}
    assert claims(ann) == (acme, "acme", "owner")
    assert ann.get("me").status == 200


def test_switch_keeps_the_session(ann, acme):
    row = Session.objects.get()

    ann.switch(acme)

    after = Session.objects.get()
    assert (after.pk, after.auth_time) == (row.pk, row.auth_time)
    assert ann.refresh().status == 200


def test_refresh_keeps_the_claims_and_reads_the_role_again(ann, acme, member):
    member.switch(acme)
    ann.put(f"org/{acme}/members/{member.id}", role="admin")
    Organization.objects.update(slug="renamed")

    member.refresh()

    assert claims(member) == (acme, "renamed", "admin")


def test_removed_member_loses_the_claims_at_the_next_refresh(ann, acme, member):
    member.switch(acme)
    ann.delete(f"org/{acme}/members/{member.id}")

    member.refresh()

    assert claims(member) == NONE
    join(acme, member)
    member.refresh()
    assert claims(member) == NONE


def test_deleted_organization_ends_its_claims(ann, acme, member):
    member.switch(acme)
    ann.delete(f"org/{acme}")

    member.refresh()

    assert claims(member) == NONE
    assert not Session.objects.exclude(organization_id=None).exists()


def test_inactive_organization_drops_the_claims(ann, acme):
    ann.switch(acme)
    Organization.objects.update(active=False)

    ann.refresh()

    assert claims(ann) == NONE


def test_switch_changes_this_session_only(ann, acme, api):
    other = api.log_in(ann.email)
    ann.switch(acme)

    refreshed = api.post("refresh", refresh_token=other["refresh_token"]).data

    assert "org_id" not in jwt.decode(
        refreshed["access_token"], options={"verify_signature": False}
    )


def test_switch_moves_between_organizations(ann, acme):
    other = ann.found("Other")
    ann.switch(acme)
    ann.switch(other)

    assert claims(ann) == (other, "other", "owner")


def test_switch_ignores_a_role_in_the_body(acme, member):
    forged = {"role": "owner", "org_role": "owner", "org_slug": "other", "user_id": "1"}

    member.keep(member.post("org/switch", org_id=acme, **forged).data)

    assert claims(member) == (acme, "acme", "member")


def test_switch_to_a_foreign_organization_is_refused(acme, eve):
    assert eve.switch(acme).error == (403, "ORG_NOT_MEMBER")
    assert claims(eve) == NONE


@pytest.mark.parametrize("org_id", ["1", "", 7, None, "01890a5d-ac96-774b-bcce-b302099a8057"])
def test_switch_to_an_unknown_organization_is_refused(ann, org_id):
    answer = ann.post("org/switch", org_id=org_id)

    assert answer.error in {(404, "ORG_NOT_FOUND"), (400, "VALIDATION_ERROR")}


def test_switch_is_recorded(ann, acme, events):
    ann.switch(acme)

    [event] = events()
    assert (event.action, event.user, str(event.target.pk)) == ("org.switched", ann.user, acme)
