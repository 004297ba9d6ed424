"""Super admins cannot suspend or delete their own account or demote the last super admin."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import (
    ANN,
    BOB,
    Admin,
    account,
    make_superuser,
    needs_superusers,
    promote,
)
from tests.contract.shapes import is_refusal
from tests.support.people import change, the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(api, root):
    """A second super admin."""
    return Admin(api, BOB)


def test_flag_makes_a_super_admin_but_no_superuser(root, ann, ann_id):
    root.put(ann_id, is_super_admin=True)

    assert account().is_super_admin is True
    assert not getattr(the_user(), "is_superuser", False)
    assert not getattr(the_user(), "is_staff", False)
    assert root.api.get("admin/users", token=ann["access_token"]).status == 200


def test_demotion_of_a_super_admin_applies_at_once(root, bob):
    assert root.put(bob.id, is_super_admin=False).status == 200

    assert bob.users().error == (403, "FORBIDDEN")


def test_own_demotion_applies_at_once(root, bob):
    assert bob.put(bob.id, is_super_admin=False).status == 200

    assert bob.users().error == (403, "FORBIDDEN")


def test_last_super_admin_cannot_be_demoted(root):
    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")
    assert root.users().status == 200


def test_last_active_super_admin_cannot_be_demoted(root, bob):
    root.put(bob.id, active=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@pytest.mark.parametrize("action", ["suspend", "put", "delete"])
def test_super_admin_cannot_suspend_or_delete_the_own_account(root, bob, action):
    requests = {
        "suspend": lambda: bob.do("suspend", bob.id),
        "put": lambda: bob.put(bob.id, active=False, name="Bob"),
        "delete": lambda: bob.delete(bob.id),
    }

    assert is_refusal(requests[action](), 400, "CANNOT_MODIFY_SELF")
    assert bob.show(bob.id).data["name"] == ""


@pytest.mark.parametrize("action", ["suspend", "delete"])
def test_other_super_admin_can_be_suspended_and_deleted(root, bob, action):
    answer = root.do("suspend", bob.id) if action == "suspend" else root.delete(bob.id)

    assert answer.status == 200
    assert bob.users().error == (401, "INVALID_TOKEN")


def test_refused_demotion_stores_no_other_field(root):
    root.put(root.id, name="Root", is_super_admin=False)

    assert root.show(root.id).data["name"] == ""


@needs_superusers
def test_superuser_of_the_project_cannot_be_demoted(root, ann_id):
    make_superuser(ANN)

    answer = root.put(ann_id, is_super_admin=False)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert the_user().is_superuser is True


@needs_superusers
def test_refused_demotion_of_a_superuser_keeps_the_flag(root, ann_id):
    make_superuser(ANN)
    promote(ANN)

    root.put(ann_id, is_super_admin=False)

    assert account().is_super_admin is True


@needs_superusers
def test_last_super_admin_by_flag_can_be_demoted_beside_a_superuser(root, ann_id):
    make_superuser(ANN)

    assert root.put(root.id, is_super_admin=False).status == 200


@needs_superusers
def test_last_super_admin_by_flag_cannot_be_demoted_beside_an_inactive_superuser(root, ann_id):
    make_superuser(ANN)
    change(ANN, is_active=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@needs_superusers
def test_last_superuser_cannot_be_demoted(root):
    make_superuser(root.email)
    promote(root.email, flag=False)

    assert is_refusal(root.put(root.id, is_super_admin=False), 400, "LAST_SUPER_ADMIN")


@needs_superusers
def test_superuser_sets_the_flag_of_a_superuser(root, ann_id):
    make_superuser(ANN)
    make_superuser(root.email)

    assert root.put(ann_id, is_super_admin=True).status == 200
    assert account().is_super_admin is True


def test_suspended_super_admin_can_be_demoted(root, bob):
    root.do("suspend", bob.id)

    assert root.put(bob.id, is_super_admin=False).status == 200


def test_token_of_a_deleted_super_admin_is_refused(root, bob):
    get_user_model().objects.filter(pk=account(BOB).pk).delete()

    assert bob.users().error == (401, "INVALID_TOKEN")
    assert Account.objects.count() == 1
