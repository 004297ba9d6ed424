"""Who may take whose rights: never one's own account, never the last super admin's."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import ANN, BOB, Admin, account, make_superuser, promote, superusers
from tests.contract.shapes import is_refusal
from tests.people import change, the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(api, root):
    """A second super admin."""
    return Admin(api, BOB)


def test_a_flag_makes_a_super_admin_and_no_superuser(root, ann, ann_id):
    root.put(ann_id, is_super_admin=True)

    assert account().is_super_admin is True
    assert not getattr(the_user(), "is_superuser", False)
    assert not getattr(the_user(), "is_staff", False)
    assert root.api.get("admin/users", token=ann["access_token"]).status == 200


def test_a_demoted_super_admin_is_refused_at_once(root, bob):
    assert root.put(bob.id, is_super_admin=False).status == 200

    assert bob.users().error == (403, "FORBIDDEN")


def test_who_demotes_themselves_is_refused_from_then_on(root, bob):
    assert bob.put(bob.id, is_super_admin=False).status == 200

    assert bob.users().error == (403, "FORBIDDEN")


def test_the_last_super_admin_stays_one(root):
    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")
    assert root.users().status == 200


def test_an_inactive_other_is_none(root, bob):
    root.put(bob.id, active=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@pytest.mark.parametrize("deed", ["suspend", "put", "delete"])
def test_nobody_suspends_or_deletes_themselves(root, bob, deed):
    ways = {
        "suspend": lambda: bob.do("suspend", bob.id),
        "put": lambda: bob.put(bob.id, active=False, name="Bob"),
        "delete": lambda: bob.delete(bob.id),
    }

    assert is_refusal(ways[deed](), 400, "CANNOT_MODIFY_SELF")
    assert bob.show(bob.id).data["name"] == ""


@pytest.mark.parametrize("deed", ["suspend", "delete"])
def test_another_super_admin_may_be_suspended_and_deleted(root, bob, deed):
    answer = root.do("suspend", bob.id) if deed == "suspend" else root.delete(bob.id)

    assert answer.status == 200
    assert bob.users().error == (401, "INVALID_TOKEN")


def test_the_rest_of_a_refused_body_is_not_stored(root):
    root.put(root.id, name="Root", is_super_admin=False)

    assert root.show(root.id).data["name"] == ""


@superusers
def test_a_superuser_of_the_project_is_not_demoted_here(root, ann_id):
    make_superuser(ANN)

    answer = root.put(ann_id, is_super_admin=False)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert the_user().is_superuser is True


@superusers
def test_a_refused_demotion_of_a_superuser_leaves_the_flag(root, ann_id):
    make_superuser(ANN)
    promote(ANN)

    root.put(ann_id, is_super_admin=False)

    assert account().is_super_admin is True


@superusers
def test_a_superuser_counts_as_one_who_remains(root, ann_id):
    make_superuser(ANN)

    assert root.put(root.id, is_super_admin=False).status == 200


@superusers
def test_an_inactive_superuser_does_not(root, ann_id):
    make_superuser(ANN)
    change(ANN, is_active=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@superusers
def test_the_last_one_may_be_a_superuser(root):
    make_superuser(root.email)
    promote(root.email, flag=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@superusers
def test_a_superuser_sets_the_flag_of_a_superuser_and_nothing_else(root, ann_id):
    make_superuser(ANN)
    make_superuser(root.email)

    assert root.put(ann_id, is_super_admin=True).status == 200
    assert account().is_super_admin is True


def test_a_suspended_super_admin_may_be_demoted(root, bob):
    root.do("suspend", bob.id)

    assert root.put(bob.id, is_super_admin=False).status == 200


def test_a_stolen_look_at_the_users_ends_with_the_account(root, bob):
    get_user_model().objects.filter(pk=account(BOB).pk).delete()

    assert bob.users().error == (401, "INVALID_TOKEN")
    assert Account.objects.count() == 1
