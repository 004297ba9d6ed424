"""What the log says of users whom staff change and delete on the host's own pages."""

import pytest
from django.contrib.auth import get_user_model

from authservice.audit import writer
from tests.admin.inside.conftest import page
from tests.admin.inside.test_last_super_admin import delete_selected, form
from tests.audit.staff import check
from tests.audit.world import ANN, metadata
from tests.client import PASSWORD
from tests.people import email_field, the_user, unsaved
from tests.recovery.flows import PHONE

pytestmark = pytest.mark.django_db
UPDATED = "admin.user.updated boss ann"


def on_page(browser, *users):
    for user in users:
        browser.send(page(user, "delete"), post="yes")


def in_list(browser, *users):
    delete_selected(browser, *users)


WAYS = pytest.mark.parametrize("delete", [on_page, in_list])


@WAYS
def test_a_deleted_user_is_told_of_with_the_address_of_staff(world, boss, delete):
    delete(boss, the_user(ANN))

    assert world.log() == ["admin.user.deleted boss ann"]
    (entry,) = world.entries()
    check([entry])
    assert metadata(entry)["email"] == {"before": ANN, "after": None}


def test_each_of_several_is_told_of(world, boss, ann, bob):
    in_list(boss, ann, bob)

    assert sorted(world.log()) == ["admin.user.deleted boss ann", "admin.user.deleted boss bob"]


@WAYS
def test_a_deletion_that_is_refused_is_not_told(world, boss, delete):
    delete(boss, boss.user)

    assert world.log() == []
    assert get_user_model().objects.filter(pk=boss.user.pk).exists()


@pytest.mark.django_db(transaction=True)
@WAYS
def test_a_deletion_that_cannot_be_told_is_not_done(world, boss, delete, monkeypatch):
    def fail(event):
        raise RuntimeError("The disk is full.")

    monkeypatch.setattr(writer, "write", fail)

    with pytest.raises(RuntimeError):
        delete(boss, the_user(ANN))

    assert get_user_model().objects.filter(pk=world.ann_id).exists()


def test_what_a_shell_deletes_after_somebody_was_asked_is_not_the_deed_of_staff(world, boss):
    boss.get(page(the_user(ANN), "delete"))

    the_user(ANN).delete()

    assert world.log() == []


@WAYS
def test_a_user_without_an_account_is_deleted_all_the_same(world, boss, delete):
    get_user_model().objects.bulk_create([unsaved("new@example.com")])

    delete(boss, the_user("new@example.com"))

    assert not get_user_model().objects.filter(**{email_field(): "new@example.com"}).exists()


# The page of a user with the account on it


def save(browser, **changed):
    ann = the_user(ANN)
    kept = {"authservice_account-0-phone_number": PHONE, "is_superuser": ""}
    return browser.send(page(ann), **form(ann, **{**kept, **changed}))


def test_who_is_added_there_is_told_of(world, boss):
    meta = get_user_model()._meta
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    inline = {f"authservice_account-{part}_FORMS": 0 for part in ("TOTAL", "INITIAL")}

    boss.send(
        f"/admin/{meta.app_label}/{meta.model_name}/add/", username="eve", **passwords, **inline
    )

    assert world.log() == ["admin.user.created boss somebody"]
    check(world.entries())
    assert metadata(world.entries()[0])["username"] == {"before": None, "after": "eve"}


def test_who_is_suspended_there_is_told_of_and_out(world, boss):
    save(boss, is_active="")

    assert world.log() == [UPDATED, "admin.user.suspended boss ann"]
    check(world.entries())
    assert metadata(world.entries()[1])["active"] == {"before": True, "after": False}


def test_tokens_from_before_do_not_work_again_after_a_reactivation(world, boss, api):
    save(boss, is_active="")
    save(boss)

    assert world.log()[2:] == [UPDATED, "admin.user.reactivated boss ann"]
    assert api.get("me", token=world.token).error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_a_new_address_there_is_told_of_and_ends_all_sign_ins(world, boss, api):
    save(boss, **{email_field(): "anna@example.com"})

    assert world.log() == [UPDATED]
    changed = metadata(world.entries()[0])
    assert changed["email"] == {"before": ANN, "after": "anna@example.com"}
    assert api.get("me", token=world.token).error == (401, "INVALID_TOKEN")


def test_a_right_given_there_is_told_of(world, boss):
    save(boss, is_superuser="on")

    assert world.log() == [UPDATED]
    assert metadata(world.entries()[0])["is_superuser"] == {"before": False, "after": True}


def test_both_parts_of_the_page_are_told_of_as_one(world, boss):
    save(boss, first_name="Anna", **{"authservice_account-0-name": "Anna"})

    assert world.log() == [UPDATED]
    told = metadata(world.entries()[0])
    assert {"first_name", "name"} <= set(told)


def test_a_page_that_changes_nothing_is_not_told(world, boss):
    save(boss)

    assert world.log() == []
