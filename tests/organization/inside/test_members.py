"""Members: listing, roles, removing and leaving; the last owner stays."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.organization.models import Membership, Organization
from tests.organization.inside.people import Person, join, role_of
from tests.support.aging import age_sessions
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db

USER = {"id", "name", "email", "username", "avatar", "active", "email_verified", "created_at"}
LAST = (403, "ORG_CANNOT_REMOVE_OWNER")


def test_members_are_listed_with_their_users(ann, acme, member):
    answer = member.get(f"org/{acme}/members")

    assert answer.status == 200
    assert answer.headers["X-Total-Count"] == "2"
    newest, oldest = answer.data
    assert set(newest) == {"id", "org_id", "user_id", "role", "joined_at", "user"}
    assert set(newest["user"]) == USER
    assert (newest["user_id"], newest["role"], newest["org_id"]) == (member.id, "member", acme)
    assert (oldest["user"]["email"], oldest["role"]) == (ann.email, "owner")


def test_one_member_is_shown_as_in_the_list(ann, acme, member):
    shown = ann.get(f"org/{acme}/members/{member.id}").data

    assert shown == ann.get(f"org/{acme}/members").data[0]


@pytest.mark.parametrize("user_id", ["999999", "x", "0", "-1", "01", "%20"])
def test_unknown_member_is_not_found(ann, acme, user_id):
    path = f"org/{acme}/members/{user_id}"
    missing = (404, "ORG_MEMBER_NOT_FOUND")

    assert ann.get(path).error == missing
    assert ann.put(path, role="member").error == missing
    assert ann.delete(path).error == missing


def test_user_outside_the_organization_is_not_a_member(ann, acme, eve):
    assert ann.get(f"org/{acme}/members/{eve.id}").error == (404, "ORG_MEMBER_NOT_FOUND")


@pytest.fixture
def four(api, ann, acme):
    for number, role in enumerate(["member", "admin", "member"]):
        join(acme, Person(api, f"user{number}"), role)
    return acme


def names(answer):
    return [entry["user"]["name"] for entry in answer.data]


@pytest.mark.parametrize(
    ("query", "found", "total"),
    [
        ("limit=2", ["User2", "User1"], 4),
        ("limit=2&offset=2", ["User0", "Ann"], 4),
        ("limit=2&offset=9", [], 4),
        ("offset=3", ["Ann"], 4),
        ("limit=", ["User2", "User1", "User0", "Ann"], 4),
        ("sort_field=name&sort_dir=asc", ["Ann", "User0", "User1", "User2"], 4),
        ("sort_field=email", ["User2", "User1", "User0", "Ann"], 4),
        ("sort_field=role&limit=1", ["Ann"], 4),
        ("query=user1", ["User1"], 1),
        ("query=EXAMPLE.com&limit=1", ["User2"], 4),
        ("query=%25", [], 0),
        ("query=_", [], 0),
    ],
)
def test_members_are_paged_sorted_and_searched(ann, four, query, found, total):
    answer = ann.get(f"org/{four}/members?{query}")

    assert names(answer) == found
    assert answer.headers["X-Total-Count"] == str(total)


def test_members_are_searched_in_upper_or_lower_case(api, ann, acme):
    ozil = Person(api, "ozil")
    ozil.put("profile", name="Özil")
    join(acme, ozil)

    assert names(ann.get(f"org/{acme}/members?query=öZ")) == ["Özil"]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "offset=-1", "sort_field=id", "sort_dir=up", "query=%00"]
)
def test_wrong_list_parameters_are_refused(ann, acme, query):
    assert ann.get(f"org/{acme}/members?{query}").error == (400, "VALIDATION_ERROR")


def test_role_is_changed(ann, acme, member):
    answer = ann.put(f"org/{acme}/members/{member.id}", role="admin", user_id=ann.id, id="1")

    assert answer.status == 200
    assert set(answer.data) == {"message"}
    assert (role_of(acme, member), role_of(acme, ann)) == ("admin", "owner")


@pytest.mark.parametrize("role", ["", "root", "Owner", "owner,member", 1, None, ["owner"]])
def test_unknown_role_is_refused(ann, acme, member, role):
    answer = ann.put(f"org/{acme}/members/{member.id}", role=role)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert role_of(acme, member) == "member"


def test_change_without_a_role_is_refused(ann, acme, member):
    assert ann.put(f"org/{acme}/members/{member.id}").error == (400, "VALIDATION_ERROR")


def test_change_ignores_fields_that_a_body_cannot_set(ann, acme, member, eve):
    other = eve.found("Other")
    forged = {
        "org_id": other,
        "user_id": eve.id,
        "id": other,
        "active": False,
        "owner_id": eve.id,
    }
    [before] = Membership.objects.filter(user=member.user).values()

    assert ann.put(f"org/{acme}/members/{member.id}", role="admin", **forged).status == 200

    assert Membership.objects.filter(user=member.user).values().get() == {**before, "role": "admin"}
    assert (role_of(acme, ann), role_of(other, eve)) == ("owner", "owner")


def test_last_owner_cannot_be_demoted_removed_or_leave(ann, acme, member):
    path = f"org/{acme}/members/{ann.id}"

    assert ann.put(path, role="admin").error == LAST
    assert ann.delete(path).error == LAST
    assert role_of(acme, ann) == "owner"


def test_former_owner_can_be_demoted_and_removed(ann, acme, member):
    ann.put(f"org/{acme}/members/{member.id}", role="owner")

    assert ann.put(f"org/{acme}/members/{ann.id}", role="member").status == 200
    assert member.delete(f"org/{acme}/members/{ann.id}").status == 200
    assert (role_of(acme, member), role_of(acme, ann)) == ("owner", "")


def test_member_leaves(acme, member):
    assert member.delete(f"org/{acme}/members/{member.id}").status == 200
    assert member.get(f"org/{acme}").error == (403, "ORG_NOT_MEMBER")


def test_removed_member_is_refused_at_once(ann, acme, member):
    ann.delete(f"org/{acme}/members/{member.id}")

    for path in (f"org/{acme}", f"org/{acme}/members", f"org/{acme}/members/{ann.id}"):
        assert member.get(path).error == (403, "ORG_NOT_MEMBER")


def test_same_role_changes_nothing(ann, acme, member, events):
    assert ann.put(f"org/{acme}/members/{member.id}", role="member").status == 200
    assert events() == []


def test_events_of_members(ann, acme, member, eve, events):
    join(acme, eve)
    ann.put(f"org/{acme}/members/{member.id}", role="admin")
    ann.delete(f"org/{acme}/members/{member.id}")
    eve.delete(f"org/{acme}/members/{eve.id}")

    changed, removed, left = events()
    assert (changed.action, changed.user, changed.target) == (
        *("org.member.role_changed", ann.user),
        member.user,
    )
    role = {"before": "member", "after": "admin"}
    assert changed.metadata == {"organization": acme, "role": role}
    assert (removed.action, removed.metadata["left"]) == ("org.member.removed", False)
    assert (left.user, left.target, left.metadata["left"]) == (eve.user, eve.user, True)


def test_member_of_an_organization_is_unique(acme, member):
    organization = Organization.objects.get(pk=acme)
    rows = Membership.objects.filter(organization=organization)

    assert rows.filter(user=member.user).count() == 1


def test_list_has_at_most_a_hundred_members(ann, acme):
    users = get_user_model().objects.bulk_create(
        unsaved(f"user{number}@example.com") for number in range(100)
    )
    Account.objects.bulk_create(Account(user=user, email="user@example.com") for user in users)
    Membership.objects.bulk_create(
        Membership(organization_id=acme, user=user, role="member") for user in users
    )

    for query in ("", "?limit=1000", "?limit="):
        answer = ann.get(f"org/{acme}/members{query}")
        assert (len(answer.data), answer.headers["X-Total-Count"]) == (100, "101")


@pytest.mark.parametrize(
    ("role", "change", "status"),
    [
        ("member", {"role": "owner"}, 401),
        ("owner", {"role": "member"}, 401),
        ("owner", None, 401),
        ("member", {"role": "admin"}, 200),
        ("member", None, 200),
    ],
    ids=["promoted", "demoted", "removed", "of another role", "member removed"],
)
def test_change_of_owners_needs_a_fresh_proof_if_that_is_strict(
    ann, acme, bob, configure, role, change, status
):
    configure(STEP_UP={"ROUTES": "strict"})
    join(acme, bob, role)
    age_sessions()
    path = f"org/{acme}/members/{bob.id}"

    answer = ann.put(path, **change) if change else ann.delete(path)

    assert answer.status == status
    assert (role_of(acme, bob) == role) == (status == 401)


@pytest.mark.parametrize(("role", "statuses"), [("owner", [401, 401]), ("admin", [201, 429])])
def test_invitation_of_an_owner_needs_a_fresh_proof_if_that_is_strict(
    ann, acme, configure, role, statuses
):
    """The invitation that is sent again was mailed a moment ago: one mail a day (429)."""
    sent = ann.post(f"org/{acme}/invite", email="dora@example.com", role=role).data
    configure(STEP_UP={"ROUTES": "strict"})
    age_sessions()

    invited = ann.post(f"org/{acme}/invite", email="carl@example.com", role=role)
    again = ann.post(f"org/{acme}/invitations/{sent['id']}/resend")

    assert [invited.status, again.status] == statuses


def test_owner_leaves_with_a_fresh_proof_if_that_is_strict(ann, acme, bob, configure):
    configure(STEP_UP={"ROUTES": "strict"})
    join(acme, bob, "owner")
    age_sessions()

    assert ann.delete(f"org/{acme}/members/{ann.id}").error == (401, "STEP_UP_REQUIRED")
    assert role_of(acme, ann) == "owner"
