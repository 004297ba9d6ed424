"""What the log says of users whom staff delete on the host's own pages."""

import pytest
from django.contrib.auth import get_user_model

from authservice.audit import entries
from tests.admin.inside.conftest import page
from tests.admin.inside.test_last_super_admin import delete_selected
from tests.audit.staff import check
from tests.audit.world import ANN, BOB, metadata
from tests.people import email_field, the_user, unsaved

pytestmark = pytest.mark.django_db


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


def test_each_of_several_is_told_of(world, boss):
    in_list(boss, the_user(ANN), the_user(BOB))

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

    monkeypatch.setattr(entries, "write", fail)

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
