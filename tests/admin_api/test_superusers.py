"""A super admin by our flag gets no power over staff and superusers of Django."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import ANN, OTHER_PHONE, account, make_superuser, superusers
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.people import change, has, the_user

pytestmark = [pytest.mark.django_db, superusers]

ACTIONS = {"change": "admin.user.updated", "delete": "admin.user.deleted"}
GUARDED = {
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
def boss(request, ann_id):
    """The id of a user of Django's staff, or of a superuser."""
    change(ANN, **{request.param: True})
    return ann_id


def test_a_super_admin_by_flag_does_not_become_superuser(root, api, post, boss):
    change(ANN, is_superuser=True)

    assert is_refusal(root.put(boss, email="mine@example.com"), 403, "FORBIDDEN")

    api.post("forgot-password", email="mine@example.com")
    assert post.letter("reset-link") is None
    assert the_user(ANN).is_superuser
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


@pytest.mark.parametrize("field", GUARDED)
def test_what_lets_one_into_the_account_is_not_changed(root, boss, field):
    before = root.show(boss).data

    answer = root.put(boss, **{"name": "Ann", field: GUARDED[field]})

    assert is_refusal(answer, 403, "FORBIDDEN")
    assert root.show(boss).data == before


def test_names_are_changed(root, boss):
    assert root.put(boss, name="Ann", first_name="Ann", avatar="").status == 200

    assert root.show(boss).data["name"] == "Ann"


def test_values_that_stay_are_no_change(root, boss):
    shown = root.show(boss).data

    assert root.put(boss, name="Ann", email=shown["email"], active=True).status == 200


@pytest.mark.parametrize("action", ["suspend", "reactivate"])
def test_the_account_is_neither_suspended_nor_reactivated(root, boss, action):
    change(ANN, is_active=action == "suspend")

    assert is_refusal(root.do(action, boss), 403, "FORBIDDEN")

    assert the_user(ANN).is_active is (action == "suspend")


def test_the_account_is_not_deleted(root, boss):
    assert is_refusal(root.delete(boss), 403, "FORBIDDEN")

    assert get_user_model().objects.filter(pk=boss).exists()
    assert Account.objects.filter(pk=boss).exists()


@pytest.mark.parametrize("do", ["change", "delete"])
def test_a_refusal_is_recorded_although_nothing_else_is(root, boss, told, do):
    root.put(boss, email="mine@example.com") if do == "change" else root.delete(boss)

    (event,) = told()
    assert event.action == "security.forbidden"
    assert (event.user, event.target, event.actor_type) == (
        the_user(root.email),
        the_user(),
        "admin",
    )
    assert event.metadata == {"action": ACTIONS[do]}


def test_a_superuser_changes_and_deletes_them(root, boss):
    make_superuser(root.email)

    assert root.put(boss, email="anna@example.com", is_super_admin=True).status == 200
    assert root.delete(boss).status == 200


def test_a_super_admin_by_flag_who_is_no_staff_is_changed(root, ann_id):
    root.put(ann_id, is_super_admin=True)

    assert root.put(ann_id, email="anna@example.com").status == 200
    assert account("anna@example.com").is_super_admin


@pytest.mark.skipif(not has("is_staff"), reason="users of this host have no is_staff")
def test_staff_by_flag_do_not_change_their_own_address_here(root):
    change(root.email, is_staff=True)

    assert is_refusal(root.put(root.id, email="new@example.com"), 403, "FORBIDDEN")
