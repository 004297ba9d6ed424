"""On the page of a user, too, the last super admin keeps their rights and stays."""

import pytest
from django.contrib.admin import ModelAdmin
from django.contrib.auth import get_user_model
from django.db import connection
from django.template.response import SimpleTemplateResponse

from authservice.core.models import Account
from tests.admin.inside.conftest import Browser, listed, page, staff
from tests.people import email_field, has, the_user
from tests.races.crowd import SIZE, Crowd, turn

pytestmark = pytest.mark.django_db
ROOT, BOB = "root@example.com", "bob@example.com"


def form(user, **changed):
    """What the page of a user sends, with the account's part of it."""
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


def take(browser, user, right):
    return browser.send(page(user), **form(user, **{right: ""}))


def delete(browser, *users):
    return [browser.send(page(user, "delete"), post="yes") for user in users]


def delete_selected(browser, *users):
    meta = get_user_model()._meta
    chosen = {"action": "delete_selected", "_selected_action": [str(u.pk) for u in users]}
    there = listed("account").replace(
        "authservice_core/account", meta.label_lower.replace(".", "/")
    )
    return browser.send(there, **chosen, post="yes")


def reigning():
    return get_user_model().objects.filter(is_superuser=True, is_active=True).count()


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_the_last_one_keeps_their_rights(root, right):
    take(root, root.user, right)

    assert reigning() == 1


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_a_page_that_is_sent_without_the_account_takes_no_right_either(root, right):
    none = {f"authservice_account-{name}_FORMS": "0" for name in ("TOTAL", "INITIAL")}

    browser = root.send(page(root.user), **form(root.user, **{right: "", **none}))

    assert browser.status_code == 200
    assert reigning() == 1


@pytest.mark.parametrize("right", ["is_active", "is_superuser"])
def test_where_another_remains_a_right_may_be_taken(root, right):
    bob = staff(BOB, superuser=True)

    take(root, bob, right)

    assert getattr(the_user(BOB), right) is False


def test_a_flag_that_stays_is_enough(root):
    Account.objects.filter(user=root.user).update(is_super_admin=True)

    take(root, root.user, "is_superuser")

    assert the_user(ROOT).is_superuser is False


def test_the_last_one_is_not_deleted(root):
    delete(root, root.user)
    delete_selected(root, root.user)

    assert reigning() == 1


def test_another_one_is_deleted(root):
    bob = staff(BOB, superuser=True)

    delete(root, bob)

    assert not get_user_model().objects.filter(pk=bob.pk).exists()


def test_an_ordinary_user_is_deleted(root, ann):
    delete_selected(root, the_user())

    assert get_user_model().objects.count() == 1


def test_all_of_them_are_not_deleted_together(root):
    bob = staff(BOB, superuser=True)

    delete_selected(root, root.user, bob)

    assert reigning() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("others", [0, 1])
def test_who_was_not_the_last_when_asked_may_be_when_deleted(root, monkeypatch, others):
    bob = staff(BOB, superuser=True)
    chosen = [root.user, *(staff(f"{n}@example.com", superuser=True) for n in range(others))]

    def lose(*args):  # between the question and the deletion
        get_user_model().objects.filter(pk=bob.pk).update(is_superuser=False)

    monkeypatch.setattr(ModelAdmin, "log_deletions", lose)
    delete_selected(root, *chosen)

    assert reigning() == len(chosen)


@pytest.fixture
def crowd(transactional_db, monkeypatch):
    # What the losers are shown is not drawn: it takes most of the time and decides nothing.
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    with turn():
        gathered = Crowd()
        yield gathered
        gathered.leave()


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one writer in at a time")
@pytest.mark.parametrize("deed", ["is_active", "is_superuser", "delete", "delete selected"])
def test_two_who_do_it_to_each_other_leave_one(crowd, deed):
    for number in range(20):
        users = [staff(f"{name}{number}@example.com", superuser=True) for name in ("a", "b")]
        # Who is deleted while they write into admin's own history may be met with a crash.
        browsers = [Browser(user, raising=False) for user in users]

        def against(place, users=users, browsers=browsers):
            other = users[1 - place]
            if deed == "delete":
                return lambda: browsers[place].send(page(other, "delete"), post="yes")
            if deed == "delete selected":
                return lambda: delete_selected(browsers[place], other)
            sent = form(other, **{deed: ""})
            return lambda: browsers[place].send(page(other), **sent)

        crowd.race([against(place % 2) for place in range(SIZE)])

        assert reigning() == 1
        get_user_model().objects.all().delete()
