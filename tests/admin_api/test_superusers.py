"""A super admin by flag cannot take over accounts of Django's staff and superusers."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import ANN, OTHER_PHONE, account, make_superuser, needs_superusers
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.people import change, has, the_user

pytestmark = [pytest.mark.django_db, needs_superusers]

ACTIONS = {"change": "admin.user.updated", "delete": "admin.user.deleted"}
PROTECTED = {
    "email": "mine@example.com",
    "username": "mine",
    "phone_number": OTHER_PHONE,
    "email_verified": True,
    "phone_number_verified": True,
    "active": False,
    "is_super_admin": True,
}


def flag(name):
    return pytest.param(
        name, marks=pytest.mark.skipif(not has(name), reason=f"users of this host have no {name}")
    )


@pytest.fixture(params=[flag("is_staff"), flag("is_superuser")])
def staff_id(request, ann_id):
    """The ID of a member of Django's staff, or of a superuser."""
    change(ANN, **{request.param: True})
    return ann_id


def test_super_admin_by_flag_cannot_take_over_a_superuser(root, api, post, staff_id):
    change(ANN, is_superuser=True)

    assert is_refusal(root.put(staff_id, email="mine@example.com"), 403, "FORBIDDEN")

    api.post("forgot-password", email="mine@example.com")
    assert post.outgoing("reset-link") is None
    assert the_user(ANN).is_superuser
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


@pytest.mark.parametrize("field", PROTECTED)
def test_field_that_gives_access_cannot_be_changed(root, staff_id, field):
    before = root.show(staff_id).data

    answer = root.put(staff_id, **{"name": "Ann", field: PROTECTED[field]})

    assert is_refusal(answer, 403, "FORBIDDEN")
    assert root.show(staff_id).data == before


def test_names_can_be_changed(root, staff_id):
    assert root.put(staff_id, name="Ann", first_name="Ann", avatar="").status == 200

    assert root.show(staff_id).data["name"] == "Ann"


def test_unchanged_values_are_accepted(root, staff_id):
    shown = root.show(staff_id).data

    assert root.put(staff_id, name="Ann", email=shown["email"], active=True).status == 200


@pytest.mark.parametrize("action", ["suspend", "reactivate"])
def test_account_of_staff_cannot_be_suspended_or_reactivated(root, staff_id, action):
    change(ANN, is_active=action == "suspend")

    assert is_refusal(root.do(action, staff_id), 403, "FORBIDDEN")

    assert the_user(ANN).is_active is (action == "suspend")


def test_account_of_staff_cannot_be_deleted(root, staff_id):
    assert is_refusal(root.delete(staff_id), 403, "FORBIDDEN")

    assert get_user_model().objects.filter(pk=staff_id).exists()
    assert Account.objects.filter(pk=staff_id).exists()


@pytest.mark.parametrize("method", ["change", "delete"])
def test_refusal_is_recorded(root, staff_id, recorded, method):
    root.put(staff_id, email="mine@example.com") if method == "change" else root.delete(staff_id)

    (event,) = recorded()
    assert event.action == "security.forbidden"
    assert (event.user, event.target, event.actor_type) == (
        the_user(root.email),
        the_user(),
        "admin",
    )
    assert event.metadata == {"action": ACTIONS[method]}


def test_superuser_changes_and_deletes_accounts_of_staff(root, staff_id):
    make_superuser(root.email)

    assert root.put(staff_id, email="anna@example.com", is_super_admin=True).status == 200
    assert root.delete(staff_id).status == 200


def test_super_admin_by_flag_who_is_not_staff_can_be_changed(root, ann_id):
    root.put(ann_id, is_super_admin=True)

    assert root.put(ann_id, email="anna@example.com").status == 200
    assert account("anna@example.com").is_super_admin


@pytest.mark.skipif(not has("is_staff"), reason="users of this host have no is_staff")
def test_staff_cannot_change_their_own_address_as_super_admin_by_flag(root):
    change(root.email, is_staff=True)

    assert is_refusal(root.put(root.id, email="new@example.com"), 403, "FORBIDDEN")
