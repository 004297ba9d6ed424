"""By any way to delete a user, no organization is left without an owner."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from authservice.organization import members
from authservice.organization.models import Membership, Organization
from tests.admin_api.people import promote
from tests.organization.inside.people import Person, join, role_of

pytestmark = pytest.mark.django_db


def by_host_code(api, user):
    user.delete()


def in_bulk(api, user):
    get_user_model().objects.filter(pk=user.pk).delete()


def over_the_api(api, user):
    root = Person(api, "root")
    promote(root.email)
    assert root.delete(f"admin/users/{user.pk}").status == 200


def in_django_admin(api, user):
    root = Person(api, "root").user
    root.is_staff = root.is_superuser = True
    root.save()
    client = Client()
    client.force_login(root)
    path = f"/admin/{user._meta.app_label}/user/{user.pk}/delete/"
    assert client.post(path, {"post": "yes"}).status_code == 302


WAYS = [by_host_code, in_bulk, over_the_api, in_django_admin]
each_way = pytest.mark.parametrize("delete", WAYS, ids=lambda way: way.__name__)


@each_way
def test_first_admin_becomes_owner(api, ann, acme, bob, eve, delete):
    join(acme, Person(api, "first"))
    join(acme, bob, "admin")
    join(acme, eve, "admin")

    delete(api, ann.user)

    assert (role_of(acme, bob), role_of(acme, eve)) == ("owner", "admin")
    assert bob.get(f"org/{acme}").data["owner_id"] == bob.id


@each_way
def test_organization_is_deleted_with_its_only_member(api, ann, acme, bob, delete):
    other = bob.found("Other")

    delete(api, ann.user)

    assert [str(row.pk) for row in Organization.objects.all()] == [other]


def test_first_member_becomes_owner_without_an_admin(api, ann, acme, bob, eve):
    join(acme, bob)
    join(acme, eve)

    ann.user.delete()

    assert (role_of(acme, bob), role_of(acme, eve)) == ("owner", "member")


def suspend(*people):
    root = Person(people[0].api, "root")
    promote(root.email)
    for person in people:
        assert root.put(f"admin/users/{person.id}", active=False).status == 200


def test_suspended_member_does_not_become_owner(ann, acme, bob, eve):
    join(acme, bob, "admin")
    join(acme, eve)
    suspend(bob)

    ann.user.delete()

    assert (role_of(acme, bob), role_of(acme, eve)) == ("admin", "owner")


def test_suspended_admin_becomes_owner_if_all_are_suspended(ann, acme, bob, eve):
    join(acme, eve)
    join(acme, bob, "admin")
    suspend(bob, eve)

    ann.user.delete()

    assert (role_of(acme, bob), role_of(acme, eve)) == ("owner", "member")


def test_active_member_behind_many_suspended_ones_becomes_owner(monkeypatch, ann, acme, bob, eve):
    monkeypatch.setattr(members, "_BATCH", 1)
    join(acme, bob, "admin")
    join(acme, eve)
    suspend(bob)

    ann.user.delete()

    assert role_of(acme, eve) == "owner"


def test_other_owner_stays_the_only_one(ann, acme, bob, eve):
    join(acme, bob, "admin")
    join(acme, eve, "owner")

    ann.user.delete()

    assert (role_of(acme, bob), role_of(acme, eve)) == ("admin", "owner")


def test_member_who_is_no_owner_changes_nothing(ann, acme, member):
    member.user.delete()

    assert role_of(acme, ann) == "owner"
    assert Membership.objects.count() == 1


def test_users_deleted_together_leave_an_owner(ann, acme, bob, eve):
    join(acme, bob, "admin")
    join(acme, eve)

    get_user_model().objects.filter(pk__in=[ann.id, bob.id]).delete()

    assert role_of(acme, eve) == "owner"


def test_all_members_deleted_together_take_the_organization(ann, acme, member):
    get_user_model().objects.filter(pk__in=[ann.id, member.id]).delete()

    assert not Organization.objects.exists()


def test_inactive_organization_gets_an_owner_too(ann, acme, member):
    Organization.objects.update(active=False)

    ann.user.delete()

    assert role_of(acme, member) == "owner"


def test_consequences_of_a_deletion_are_recorded(ann, acme, member, events):
    alone = ann.found("Alone")
    ann.user.delete()

    created, *found = events()
    assert {(event.action, event.actor_type) for event in found} == {
        ("org.member.role_changed", "system"),
        ("org.deleted", "system"),
    }
    assert alone
