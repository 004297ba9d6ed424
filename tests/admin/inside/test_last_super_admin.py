"""The page of a user cannot demote, suspend or delete the last super admin."""

import pytest
from django.contrib.admin import ModelAdmin
from django.contrib.auth import get_user_model
from django.db import connection
from django.template.response import SimpleTemplateResponse

from authservice.core.models import Account
from tests.admin.inside.conftest import Browser, listed, page, staff
from tests.races.crowd import SIZE, Crowd, asked_rounds, crowd_limit
from tests.support.people import email_field, has, the_user

pytestmark = pytest.mark.django_db
ROOT, BOB = "root@example.com", "bob@example.com"


def form(user, **changed):
    """The form data of the page of a user, including the account inline."""
    sent = {email_field(): getattr(user, email_field()), "is_staff": "on", "is_active": "on"}
    sent["is_superuser"] = "on"
    if has("username"):
        sent |= {"username": user.username, "date_joined_0": "2030-01-01", "date_joined_1": "12:00"}
    ours = {} if has("first_name") else {"first_name": "", "last_name": ""}
    account = Account.objects.get(user=user)
    flag = {"is_super_admin": "on"} if account.is_super_admin else {}
    inline = {"TOTAL_FORMS": 1, "INITIAL_FORMS": 1, "MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": 1}
    inline = {f"authservice_account-{name}": value for name, value in inline.items()}
    row = {"user": user.pk, "name": "", "phone_number": "", "avatar": "", **ours, **flag}
    inline |= {f"authservice_account-0-{name}": value for name, value in row.items()}
    return {name: value for name, value in {**sent, **inline, **changed}.items() if value}


def remove_right(browser, user, right):
    return browser.send(page(user), **form(user, **{right: ""}))


def delete(browser, *users):
    return [browser.send(page(user, "delete"), post="yes") for user in users]


def delete_selected(browser, *users):
    meta = get_user_model()._meta
    chosen = {"action": "delete_selected", "_selected_action": [str(u.pk) for u in users]}
    path = listed("account").replace("authservice_core/account", meta.label_lower.replace(".", "/"))
    return browser.send(path, **chosen, post="yes")


def active_superusers():
    return get_user_model().objects.filter(is_superuser=True, is_active=True).count()


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_last_super_admin_keeps_their_rights(root, right):
    remove_right(root, root.user, right)

    assert active_superusers() == 1


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_last_super_admin_keeps_rights_if_form_omits_the_account(root, right):
    none = {f"authservice_account-{name}_FORMS": "0" for name in ("TOTAL", "INITIAL")}

    browser = root.send(page(root.user), **form(root.user, **{right: "", **none}))

    assert browser.status_code == 200
    assert active_superusers() == 1


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_super_admin_can_be_demoted_if_another_remains(root, right):
    bob = staff(BOB, superuser=True)

    remove_right(root, bob, right)

    assert getattr(the_user(BOB), right) is False


def test_super_admin_by_flag_can_lose_superuser(root):
    Account.objects.filter(user=root.user).update(is_super_admin=True)

    remove_right(root, root.user, "is_superuser")

    assert the_user(ROOT).is_superuser is False


def test_last_super_admin_is_not_deleted(root):
    delete(root, root.user)
    delete_selected(root, root.user)

    assert active_superusers() == 1


def test_super_admin_is_deleted_if_another_remains(root):
    bob = staff(BOB, superuser=True)

    delete(root, bob)

    assert not get_user_model().objects.filter(pk=bob.pk).exists()


def test_ordinary_user_is_deleted(root, ann):
    delete_selected(root, the_user())

    assert get_user_model().objects.count() == 1


def test_all_super_admins_are_not_deleted_together(root):
    bob = staff(BOB, superuser=True)

    delete_selected(root, root.user, bob)

    assert active_superusers() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("others", [0, 1])
def test_super_admin_who_became_the_last_before_deletion_is_kept(root, monkeypatch, others):
    bob = staff(BOB, superuser=True)
    chosen = [root.user, *(staff(f"{n}@example.com", superuser=True) for n in range(others))]

    def lose(*args):  # between the confirmation page and the deletion
        get_user_model().objects.filter(pk=bob.pk).update(is_superuser=False)

    monkeypatch.setattr(ModelAdmin, "log_deletions", lose)
    delete_selected(root, *chosen)

    assert active_superusers() == len(chosen)


@pytest.fixture
def crowd(transactional_db, monkeypatch):
    # Error pages are not rendered: rendering takes most of the time and is not under test.
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    with crowd_limit():
        gathered = Crowd()
        yield gathered
        gathered.close()


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite allows one writer at a time")
@pytest.mark.parametrize("action", ["is_active", "is_superuser", "delete", "delete selected"])
def test_superusers_removing_each_other_leave_one(crowd, action):
    for number in asked_rounds(8):
        users = [staff(f"{name}{number}@example.com", superuser=True) for name in ("a", "b")]
        # A 5xx is possible for a user who is deleted while admin writes its own history.
        browsers = [Browser(user, raising=False) for user in users]

        def make_request(place, users=users, browsers=browsers):
            other = users[1 - place]
            if action == "delete":
                return lambda: browsers[place].send(page(other, "delete"), post="yes")
            if action == "delete selected":
                return lambda: delete_selected(browsers[place], other)
            sent = form(other, **{action: ""})
            return lambda: browsers[place].send(page(other), **sent)

        crowd.race([make_request(place % 2) for place in range(SIZE)])

        assert active_superusers() == 1
        get_user_model().objects.all().delete()
