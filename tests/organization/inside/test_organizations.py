"""Creating, listing, showing, changing and deleting organizations."""

import pytest
from django.db.models import ProtectedError

from authservice.organization.models import Membership, Organization
from tests.admin_api.people import promote
from tests.organization.inside.people import Person, join
from tests.support.flows import deactivate

pytestmark = pytest.mark.django_db

FIELDS = {
    *("id", "name", "slug", "owner_id", "logo_url", "metadata", "active"),
    *("created_at", "updated_at"),
}
UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.mark.parametrize(
    ("role", "may", "manages"),
    [
        (
            "owner",
            "read switch update delete invite change_roles remove",
            "owner admin recruiter billing support member guest",
        ),
        ("recruiter", "read switch invite", "recruiter member guest"),
        ("member", "read switch", ""),
    ],
)
def test_organization_says_what_the_caller_may_do(role, may, manages, acme, bob):
    join(acme, bob, role)

    answer = bob.get(f"org/{acme}")

    assert set(answer.data) == {*FIELDS, "role", "may", "manages"}
    assert answer.data["role"] == role
    assert answer.data["may"] == may.split()
    assert answer.data["manages"] == manages.split()


def test_created_organization_has_its_founder_as_owner(ann):
    answer = ann.post("org", name="Acme Inc.")

    assert answer.status == 201
    assert set(answer.data) == FIELDS
    assert answer.data["slug"] == "acme-inc"
    assert answer.data["owner_id"] == ann.id
    assert answer.data["active"] is True
    assert answer.data["updated_at"] is None
    assert Membership.objects.get(organization=answer.data["id"]).role == "owner"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": 7},
        {"name": "a" * 256},
        {"name": "A\x00"},
        {"name": "Acme", "slug": "a"},
        {"name": "Acme", "slug": "Acme"},
        {"name": "Acme", "slug": "acme_inc"},
        {"name": "Acme", "slug": "-acme"},
        {"name": "Acme", "slug": "acme-"},
        {"name": "Acme", "slug": "a" * 65},
        {"name": "Acme", "slug": "ácme"},
        {"name": "Acme", "slug": "acme\n"},
        {"name": "Acme", "slug": 7},
    ],
    ids=repr,
)
def test_invalid_name_or_slug_is_refused(ann, body):
    assert ann.post("org", **body).error == (400, "VALIDATION_ERROR")
    assert not Organization.objects.exists()


def test_given_slug_is_used(ann):
    assert ann.post("org", name="Acme", slug="a--1").data["slug"] == "a--1"


def test_taken_slug_is_refused(ann, bob):
    ann.found(slug="acme")

    assert bob.post("org", name="Other", slug="acme").error == (409, "ORG_SLUG_TAKEN")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Müller & Söhne GmbH", "muller-sohne-gmbh"),
        ("  a  B  ", "a-b"),
        ("x" * 100, "x" * 64),
        ("Ⅷ Löwen", "viii-lowen"),
    ],
)
def test_slug_is_made_from_the_name(ann, name, slug):
    assert ann.post("org", name=name).data["slug"] == slug


@pytest.mark.parametrize("name", ["東京", "!", "x", "🦊🦊"])
def test_name_without_two_usable_characters_gets_a_random_slug(ann, name):
    assert ann.post("org", name=name).data["slug"].startswith("org-")


def test_second_organization_of_a_name_gets_a_number(ann):
    slugs = [ann.post("org", name="Acme").data["slug"] for _ in range(3)]

    assert slugs == ["acme", "acme-2", "acme-3"]


def test_number_of_a_long_slug_replaces_its_end(ann):
    slugs = [ann.post("org", name="x" * 64).data["slug"] for _ in range(2)]

    assert slugs == ["x" * 64, "x" * 62 + "-2"]


def test_limit_of_owned_organizations(ann, bob, organization):
    organization(MAX_PER_USER=1)
    acme = ann.found()
    join(acme, bob)

    assert ann.post("org", name="Other").error == (403, "ORG_MAX_PER_USER")
    assert bob.post("org", name="Other").status == 201


@pytest.mark.parametrize("rule", ["super_admins", "tests.organization.inside.people.is_root"])
def test_only_the_users_of_the_setting_create_organizations(api, ann, organization, rule):
    root = Person(api, "root")
    promote(root.email)
    organization(WHO_MAY_CREATE=rule)

    assert ann.post("org", name="Acme").error == (403, "FORBIDDEN")
    assert root.post("org", name="Acme").status == 201


def test_own_organizations_are_listed_in_the_order_of_joining(ann, bob):
    first, second = ann.found("First"), bob.found("Second")
    join(second, ann)
    bob.found("Foreign")

    listed = ann.get("org/my").data

    assert [entry["id"] for entry in listed] == [first, second]
    assert [entry["owner_id"] for entry in listed] == [ann.id, bob.id]
    assert all(set(entry) == FIELDS for entry in listed)


def test_no_organizations_are_an_empty_array(ann):
    assert ann.get("org/my").data == []


def test_member_reads_the_organization(acme, member):
    assert member.get(f"org/{acme}").data["name"] == "Acme"


@pytest.mark.parametrize("org_id", [UNKNOWN, "1", "my2", UNKNOWN.upper(), "%00", "a" * 200])
def test_unknown_organization_is_not_found(ann, org_id):
    assert ann.get(f"org/{org_id}").error == (404, "ORG_NOT_FOUND")


def test_inactive_organization_is_not_found(ann, acme):
    Organization.objects.update(active=False)

    assert ann.get(f"org/{acme}").error == (404, "ORG_NOT_FOUND")
    assert ann.put(f"org/{acme}", name="New").error == (404, "ORG_NOT_FOUND")
    assert ann.get("org/my").data == []


def test_change_sets_the_fields_and_the_time(clock, ann, acme):
    changes = {"name": "New", "logo_url": "https://a.example/l.png", "metadata": '{"a":\n 1}'}

    answer = ann.put(f"org/{acme}", **changes)

    assert answer.status == 200
    assert {name: answer.data[name] for name in changes} == changes
    assert answer.data["updated_at"].startswith("2030-01-01T12:00:00.")
    shown = ann.get(f"org/{acme}").data
    assert answer.data == {name: shown[name] for name in FIELDS}


def test_change_with_null_keeps_and_with_blank_clears(ann, acme):
    ann.put(f"org/{acme}", logo_url="https://a.example/l.png", metadata="{}")

    answer = ann.put(f"org/{acme}", name=None, logo_url="", metadata="")

    assert (answer.data["name"], answer.data["logo_url"], answer.data["metadata"]) == (
        "Acme",
        "",
        "",
    )


def test_change_to_the_values_of_before_changes_and_records_nothing(ann, acme, events):
    assert ann.put(f"org/{acme}", name="Acme", logo_url="").data["updated_at"] is None
    assert events() == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": ""},
        {"logo_url": "javascript:alert(1)"},
        {"logo_url": "ftp://a.example"},
        {"metadata": "{"},
        {"metadata": {}},
        {"metadata": '{"a":"\x00"}'},
        {"metadata": "[" * 16_000},
        {"metadata": f'"{"a" * 16_384}"'},
        {"slug": "new"},
    ],
    ids=lambda body: repr(body)[:40],
)
def test_change_with_nothing_valid_is_refused(ann, acme, body):
    assert ann.put(f"org/{acme}", **body).error == (400, "VALIDATION_ERROR")


def test_fields_that_a_body_cannot_set_are_ignored(ann, bob, acme):
    forged = {
        **{"id": UNKNOWN, "slug": "other", "owner_id": bob.id, "founder": bob.id},
        **{"active": False, "created_at": "2000-01-01T00:00:00Z", "role": "member"},
    }
    shown = ann.get(f"org/{acme}").data
    before = {name: shown[name] for name in FIELDS}

    after = ann.put(f"org/{acme}", name="New", **forged).data

    assert {**after, "name": "Acme", "updated_at": None} == before
    created = ann.post("org", name="Other", **{**forged, "slug": "given"}).data
    assert (created["owner_id"], created["active"], created["slug"]) == (ann.id, True, "given")


def test_deleted_organization_leaves_no_row(ann, acme, member):
    assert ann.delete(f"org/{acme}").status == 200

    assert ann.get(f"org/{acme}").error == (404, "ORG_NOT_FOUND")
    assert not Membership.objects.exists()
    assert member.get("org/my").data == []


def test_organization_that_a_table_of_the_project_protects_stays(ann, acme, monkeypatch):
    def protected(*args, **options):
        raise ProtectedError("a project references it", set())

    monkeypatch.setattr(Organization, "delete", protected)

    assert ann.delete(f"org/{acme}").error == (409, "ORG_IN_USE")
    assert ann.get(f"org/{acme}").status == 200


def test_owner_is_the_founder_while_an_owner_then_the_oldest(ann, acme, member, eve):
    join(acme, eve, "owner")
    ann.put(f"org/{acme}/members/{member.id}", role="owner")
    assert ann.get(f"org/{acme}").data["owner_id"] == ann.id

    ann.put(f"org/{acme}/members/{ann.id}", role="admin")
    assert ann.get(f"org/{acme}").data["owner_id"] == member.id

    member.put(f"org/{acme}/members/{ann.id}", role="owner")
    assert ann.get(f"org/{acme}").data["owner_id"] == ann.id


def test_deactivated_user_reaches_nothing(ann, acme):
    deactivate(ann.email)

    assert ann.get(f"org/{acme}").error == (401, "INVALID_TOKEN")


def test_events_of_an_organization(ann, events):
    acme = ann.found()
    ann.put(f"org/{acme}", name="New")
    ann.delete(f"org/{acme}")

    created, updated, deleted = events()
    assert [created.action, updated.action, deleted.action] == [
        *("org.created", "org.updated", "org.deleted")
    ]
    assert {str(created.target.pk), created.user} == {acme, ann.user}
    assert updated.metadata == {"name": {"before": "Acme", "after": "New"}}
