"""The entries of users that staff change and delete on the user pages of Django admin."""

import pytest
from django.contrib.auth import get_user_model

from authservice.audit import writer
from tests.admin.inside.conftest import page
from tests.admin.inside.test_last_super_admin import delete_selected, form
from tests.audit.staff import check
from tests.audit.world import ANN, metadata
from tests.support.client import PASSWORD
from tests.support.flows import PHONE
from tests.support.people import email_field, the_user, unsaved

pytestmark = pytest.mark.django_db
UPDATED = "admin.user.updated superuser ann"


def by_page(browser, *users):
    for user in users:
        browser.send(page(user, "delete"), post="yes")


def by_list(browser, *users):
    delete_selected(browser, *users)


WAYS = pytest.mark.parametrize("delete", [by_page, by_list])


@WAYS
def test_user_deleted_in_admin_is_recorded_with_client_of_staff(world, superuser, delete):
    delete(superuser, the_user(ANN))

    assert world.log() == ["admin.user.deleted superuser ann"]
    (entry,) = world.entries()
    check([entry])
    assert metadata(entry)["email"] == {"before": ANN, "after": None}


def test_users_deleted_in_admin_list_are_recorded_each(world, superuser, ann, bob):
    by_list(superuser, ann, bob)

    assert sorted(world.log()) == [
        "admin.user.deleted superuser ann",
        "admin.user.deleted superuser bob",
    ]


@WAYS
def test_refused_deletion_in_admin_is_not_recorded(world, superuser, delete):
    delete(superuser, superuser.user)

    assert world.log() == []
    assert get_user_model().objects.filter(pk=superuser.user.pk).exists()


@pytest.mark.django_db(transaction=True)
@WAYS
def test_deletion_in_admin_that_cannot_be_recorded_is_rolled_back(
    world, superuser, delete, monkeypatch
):
    def fail(event):
        raise RuntimeError("The disk is full.")

    monkeypatch.setattr(writer, "_entry", fail)

    with pytest.raises(RuntimeError):
        delete(superuser, the_user(ANN))

    assert get_user_model().objects.filter(pk=world.ann_id).exists()


def test_deletion_in_shell_after_admin_confirmation_page_is_not_recorded_as_staff(world, superuser):
    superuser.get(page(the_user(ANN), "delete"))

    the_user(ANN).delete()

    assert world.log() == []


@WAYS
def test_user_without_account_is_deleted_in_admin(world, superuser, delete):
    get_user_model().objects.bulk_create([unsaved("new@example.com")])

    delete(superuser, the_user("new@example.com"))

    assert not get_user_model().objects.filter(**{email_field(): "new@example.com"}).exists()


# The page of a user with the account inline


def save(browser, **changed):
    ann = the_user(ANN)
    unchanged = {"authservice_account-0-phone_number": PHONE, "is_superuser": ""}
    return browser.send(page(ann), **form(ann, **{**unchanged, **changed}))


def test_user_added_in_admin_is_recorded(world, superuser):
    meta = get_user_model()._meta
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    inline = {f"authservice_account-{part}_FORMS": 0 for part in ("TOTAL", "INITIAL")}

    superuser.send(
        f"/admin/{meta.app_label}/{meta.model_name}/add/", username="eve", **passwords, **inline
    )

    assert world.log() == ["admin.user.created superuser new_user"]
    check(world.entries())
    assert metadata(world.entries()[0])["username"] == {"before": None, "after": "eve"}


def test_user_suspended_in_admin_is_recorded(world, superuser):
    save(superuser, is_active="")

    assert world.log() == [UPDATED, "admin.user.suspended superuser ann"]
    check(world.entries())
    assert metadata(world.entries()[1])["active"] == {"before": True, "after": False}


def test_tokens_issued_before_suspension_stay_revoked_after_reactivation(world, superuser, api):
    save(superuser, is_active="")
    save(superuser)

    assert world.log()[2:] == [UPDATED, "admin.user.reactivated superuser ann"]
    assert api.get("me", token=world.token).error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_address_changed_in_admin_is_recorded_and_revokes_all_sessions(world, superuser, api):
    save(superuser, **{email_field(): "anna@example.com"})

    assert world.log() == [UPDATED]
    changed = metadata(world.entries()[0])
    assert changed["email"] == {"before": ANN, "after": "anna@example.com"}
    assert api.get("me", token=world.token).error == (401, "INVALID_TOKEN")


def test_superuser_flag_set_in_admin_is_recorded(world, superuser):
    save(superuser, is_superuser="on")

    assert world.log() == [UPDATED]
    assert metadata(world.entries()[0])["is_superuser"] == {"before": False, "after": True}


def test_user_and_account_changed_on_one_page_are_one_entry(world, superuser):
    save(superuser, first_name="Anna", **{"authservice_account-0-name": "Anna"})

    assert world.log() == [UPDATED]
    changes = metadata(world.entries()[0])
    assert {"first_name", "name"} <= set(changes)


def test_user_page_without_change_is_not_recorded(world, superuser):
    save(superuser)

    assert world.log() == []
