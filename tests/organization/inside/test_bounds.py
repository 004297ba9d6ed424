"""How many organizations there are, how large they are, and which slugs are free."""

from datetime import timedelta

import pytest
from django.core.management import call_command

from authservice.organization import organizations
from authservice.organization.models import FormerSlug, Organization
from tests.organization.inside.people import join

pytestmark = pytest.mark.django_db

TAKEN = (409, "ORG_SLUG_TAKEN")
LIMITED = (429, "TOO_MANY_REQUESTS")


def test_user_owns_fifty_organizations_by_default(configure, ann):
    configure(THROTTLE={"ENABLED": False})
    for number in range(50):
        ann.found(f"Acme {number}")

    assert ann.post("org", name="Acme").error == (403, "ORG_MAX_PER_USER")


def test_organizations_of_others_do_not_count(organization, ann, bob):
    organization(MAX_PER_USER=1)
    join(bob.found("Other"), ann, "admin")

    assert ann.post("org", name="Acme").status == 201


def test_account_creates_twenty_organizations_an_hour(clock, ann, bob):
    for number in range(20):
        ann.found(f"Acme {number}")

    refused = ann.post("org", name="Acme")

    assert refused.error == LIMITED
    assert int(refused.headers["Retry-After"]) <= 3600
    assert bob.post("org", name="Acme").status == 201
    clock.forward(hours=1)
    ann.log_in()
    assert ann.post("org", name="Acme").status == 201


def test_limit_of_creations_is_a_setting(configure, ann):
    configure(THROTTLE={"RATES": {"org-create": "1/h"}})
    ann.found()

    assert ann.post("org", name="Acme").error == LIMITED


def test_organization_of_a_sign_up_does_not_count(organization, configure, api):
    configure(ORGANIZATION={"AUTO_CREATE": True}, THROTTLE={"RATES": {"org-create": "1/h"}})
    token = api.sign_up("new@example.com")["access_token"]

    assert api.request("POST", "org", {"name": "Acme"}, token=token).status == 201


@pytest.mark.parametrize("length", [2048, 2049])
def test_metadata_has_at_most_2048_characters(ann, acme, length):
    text = '"' + "é" * (length - 2) + '"'

    answer = ann.put(f"org/{acme}", metadata=text)

    assert answer.status == (200 if length == 2048 else 400)


def test_length_of_metadata_is_a_setting(organization, ann, acme):
    organization(METADATA_MAX=4)

    assert ann.put(f"org/{acme}", metadata='"12"').status == 200
    assert ann.put(f"org/{acme}", metadata='"123"').error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("slug", ["admin", "api", "www", "login", "auth", "static"])
def test_reserved_slug_is_refused(ann, slug):
    assert ann.post("org", name="Acme", slug=slug).error == TAKEN
    assert ann.post("org", name=slug.upper()).data["slug"] == f"{slug}-2"


def test_reserved_slugs_are_a_setting(organization, ann):
    organization(RESERVED_SLUGS=["billing"])

    assert ann.post("org", name="Acme", slug="billing").error == TAKEN
    assert ann.post("org", name="Acme", slug="admin").status == 201


def delete_over_the_api(ann, acme):
    ann.delete(f"org/{acme}")


def delete_with_the_last_member(ann, acme):
    ann.user.delete()


def delete_by_code_of_the_project(ann, acme):
    Organization.objects.get(pk=acme).delete()


@pytest.mark.parametrize(
    "delete",
    [delete_over_the_api, delete_with_the_last_member, delete_by_code_of_the_project],
)
def test_slug_of_a_deleted_organization_stays_reserved_for_72_hours(clock, ann, bob, acme, delete):
    delete(ann, acme)
    assert bob.post("org", name="Acme", slug="acme").error == TAKEN
    assert bob.post("org", name="Acme").data["slug"] == "acme-2"

    clock.forward(hours=71, minutes=59)
    bob.log_in()
    assert bob.post("org", name="Acme", slug="acme").error == TAKEN

    clock.forward(minutes=2)
    bob.log_in()
    assert bob.post("org", name="Acme", slug="acme").status == 201


def test_refused_creation_of_a_reserved_slug_leaves_nothing(ann, acme):
    ann.delete(f"org/{acme}")

    ann.post("org", name="Acme", slug="acme")

    assert not Organization.objects.exists()


def test_cleanup_deletes_slugs_that_are_free_again(clock, ann, acme):
    ann.delete(f"org/{acme}")
    call_command("authservice_cleanup", verbosity=0)
    assert FormerSlug.objects.count() == 1

    clock.forward(seconds=(organizations.FORMER_SLUG_TTL + timedelta(seconds=1)).total_seconds())
    call_command("authservice_cleanup", verbosity=0)

    assert not FormerSlug.objects.exists()
