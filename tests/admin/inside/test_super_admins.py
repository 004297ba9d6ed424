"""In Django admin only a superuser changes accounts of superusers and super admins."""

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.core.signals import request_finished
from django.test import Client

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, Session
from authservice.core.staff.admin_pages import SuperAdminGuard
from tests.admin.inside.conftest import Browser, page
from tests.admin.inside.test_changes import by_itself, with_user
from tests.admin.inside.test_last_super_admin import delete, delete_selected
from tests.client import PASSWORD
from tests.people import change, the_user, unsaved

pytestmark = pytest.mark.django_db

OLD, NEW = "+4930123456", "+4930123457"
ANN, NEW_USER = "ann@example.com", "new@example.com"


def account(email=ANN):
    return Account.objects.get(email=email)


@pytest.fixture(params=["by our flag", "by Django"])
def boss(request, ann):
    """Ann is a super admin."""
    if request.param == "by Django":
        change(ANN, is_superuser=True)
    else:
        Account.objects.filter(pk=account().pk).update(is_super_admin=True)
    return ann


@pytest.fixture
def support(helper):
    """A member of staff with every permission over users, accounts and sign-ins."""
    name = get_user_model()._meta.model_name
    kinds = [f"{verb}_{kind}" for kind in ("account", "session") for verb in ("view", "change")]
    return lambda: helper(
        *kinds, "delete_session", *(f"{verb}_{name}" for verb in ("view", "change", "delete"))
    )


def test_a_number_of_their_own_leads_no_staff_into_the_account_of_a_boss(support, api, boss):
    by_itself(support(), phone_number=NEW)

    assert account().phone_number == OLD
    api.post("send-verification-phone", phone=NEW)
    api.post("forgot-password", phone=NEW)
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


@pytest.mark.parametrize("save", [by_itself, with_user])
def test_other_staff_change_nothing_of_a_super_admin(support, boss, save):
    before = Account.objects.values().get(pk=account().pk)

    save(support(), phone_number=NEW, name="Boss", is_super_admin="")

    assert Account.objects.values().get(email=ANN) == before


def test_the_page_shows_other_staff_the_values_and_no_form(support, boss):
    shown = support().see(page(account()))

    assert OLD in shown
    assert 'name="phone_number"' not in shown
    assert 'name="_save"' not in shown


def test_the_host_part_of_the_page_is_not_saved_either(support, boss):
    shown = with_user(support(), {"first_name": "Eve"})

    assert "Only a superuser may change a super admin." in shown
    assert the_user(ANN).email == ANN


@pytest.mark.parametrize("save", [by_itself, with_user])
def test_a_superuser_changes_a_super_admin(root, boss, save):
    keep = {"is_super_admin": "on"} if account().is_super_admin else {}
    user_form = {"is_superuser": "on"} if the_user(ANN).is_superuser else {}

    save(root, *([user_form] if save is with_user else []), phone_number=NEW, **keep)

    assert account().phone_number == NEW


def test_other_staff_end_no_sign_ins_of_a_super_admin(support, api, boss):
    browser = support()

    said = browser.act("account", "end_sign_ins", account()).content.decode()
    browser.act("session", "end", Session.objects.get())
    delete_one = browser.send(page(Session.objects.get(), "delete"), post="yes")
    browser.act("session", "delete_selected", Session.objects.get())

    assert "Skipped 1: only a superuser may do this to super admins." in said
    assert delete_one.status_code == 403
    assert api.get("me", token=boss["access_token"]).status == 200


def test_other_staff_go_on_ending_sign_ins_of_others(support, api, boss):
    bob = api.sign_up("bob@example.com")

    support().act("account", "end_sign_ins", account(), account("bob@example.com"))

    assert api.get("me", token=bob["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.get("me", token=boss["access_token"]).status == 200


def test_other_staff_do_not_unlock_a_super_admin(support, api, boss):
    for _ in range(BUDGET.limit):
        api.post("login", email=ANN, password="wrong")

    support().act("account", "unlock", account())

    assert api.post("login", email=ANN, password=PASSWORD).status == 429


WAYS = pytest.mark.parametrize("delete", [delete, delete_selected])


@WAYS
def test_other_staff_do_not_delete_a_super_admin(root, support, boss, delete):
    delete(support(), the_user(ANN))

    assert get_user_model().objects.filter(pk=account().pk).exists()


@WAYS
def test_other_staff_delete_other_users(root, support, ann, delete):
    delete(support(), the_user(ANN))

    assert not Account.objects.filter(email=ANN).exists()


def test_a_user_page_with_our_guard_keeps_other_staff_from_the_password(support, boss, monkeypatch):
    model = get_user_model()

    class People(SuperAdminGuard, UserAdmin):
        pass

    browser, user = support(), the_user(ANN)
    monkeypatch.setitem(admin.site._registry, model, People(model, admin.site))
    guarded = People(model, admin.site)
    request = type("Request", (), {"user": browser.user})()

    assert guarded.has_change_permission(request, user) is False
    assert guarded.has_delete_permission(request, user) is False
    assert guarded.has_change_permission(request, browser.user) is True


# Users from before the service


@pytest.fixture
def newcomer():
    """`newcomer(**fields)` is a user without an account."""

    def make(email=NEW_USER, **fields):
        get_user_model().objects.bulk_create([unsaved(email, **fields)])
        return the_user(email)

    return make


@WAYS
def test_a_deleted_user_without_an_account_is_recorded(root, newcomer, told, delete):
    user = newcomer()

    delete(root, user)

    assert not get_user_model().objects.filter(pk=user.pk).exists()
    (event,) = told("admin.user.deleted")
    assert (event.user, event.actor_type) == (root.user, "admin")
    assert event.metadata["email"] == {"before": NEW_USER, "after": None}


@WAYS
def test_several_without_an_account_are_recorded(root, newcomer, told, delete):
    delete(root, newcomer(), newcomer("newer@example.com"))

    assert len(told("admin.user.deleted")) == 2


@pytest.mark.django_db(transaction=True)
@WAYS
def test_other_staff_do_not_delete_a_superuser_without_an_account(
    root, support, newcomer, ann, delete
):
    boss = newcomer(is_superuser=True)

    delete(support(), boss)

    assert get_user_model().objects.filter(pk=boss.pk).exists()


@pytest.mark.django_db(transaction=True)
@WAYS
def test_the_last_super_admin_without_an_account_stays(root, newcomer, delete):
    boss = newcomer(is_superuser=True, is_staff=True)
    change("root@example.com", is_superuser=False)

    delete(Browser(boss), boss)

    assert get_user_model().objects.filter(pk=boss.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_all_super_admins_without_accounts_are_not_deleted_together(root, newcomer):
    first = newcomer(is_superuser=True)
    second = newcomer("newer@example.com", is_superuser=True)
    Account.objects.all().delete()

    delete_selected(root, first, second, root.user)

    assert get_user_model().objects.filter(is_superuser=True).count() == 3


def test_a_superuser_without_an_account_counts_as_one_who_remains(root, newcomer):
    newcomer(is_superuser=True)

    delete(root, root.user)

    assert get_user_model().objects.filter(is_superuser=True).count() == 1


def test_a_user_deleted_by_the_host_without_an_account_is_not_the_action_of_staff(newcomer, told):
    newcomer().delete()

    assert told("admin.user.deleted") == []


# The receiver


def receivers():
    return len(request_finished.receivers)


def test_requests_of_the_host_run_no_receiver_of_ours(root, ann):
    before = receivers()

    root.see(page(the_user(ANN), "delete"))
    delete(root, the_user(ANN))
    Client().get("/admin/login/")

    assert receivers() == before
    assert not any("authservice" in str(entry[0]) for entry in request_finished.receivers)


def test_staff_of_another_request_are_not_taken_for_the_one_who_deletes(root, ann, told):
    root.see(page(the_user(ANN), "delete"))

    the_user(ANN).delete()

    assert told("admin.user.deleted") == []
