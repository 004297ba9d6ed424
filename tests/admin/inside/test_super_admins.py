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
from tests.admin.inside.test_changes import on_account_page, on_user_page
from tests.admin.inside.test_last_super_admin import delete, delete_selected
from tests.support.client import PASSWORD
from tests.support.people import change, the_user, unsaved

pytestmark = pytest.mark.django_db

OLD, NEW = "+4930123456", "+4930123457"
ANN, NEW_USER = "ann@example.com", "new@example.com"


def account(email=ANN):
    return Account.objects.get(email=email)


@pytest.fixture(params=["by is_super_admin", "by is_superuser"])
def super_admin(request, ann):
    """Ann is a super admin."""
    if request.param == "by is_superuser":
        change(ANN, is_superuser=True)
    else:
        Account.objects.filter(pk=account().pk).update(is_super_admin=True)
    return ann


@pytest.fixture
def support(helper):
    """A staff user with every permission on users, accounts and sessions."""
    name = get_user_model()._meta.model_name
    kinds = [f"{verb}_{kind}" for kind in ("account", "session") for verb in ("view", "change")]
    return lambda: helper(
        *kinds, "delete_session", *(f"{verb}_{name}" for verb in ("view", "change", "delete"))
    )


def test_staff_cannot_set_own_number_on_account_of_super_admin(support, api, super_admin):
    on_account_page(support(), phone_number=NEW)

    assert account().phone_number == OLD
    api.post("send-verification-phone", phone=NEW)
    api.post("forgot-password", phone=NEW)
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


@pytest.mark.parametrize("save", [on_account_page, on_user_page])
def test_other_staff_cannot_change_a_super_admin(support, super_admin, save):
    before = Account.objects.values().get(pk=account().pk)

    save(support(), phone_number=NEW, name="Boss", is_super_admin="")

    assert Account.objects.values().get(email=ANN) == before


def test_page_of_a_super_admin_is_read_only_for_other_staff(support, super_admin):
    shown = support().see(page(account()))

    assert OLD in shown
    assert 'name="phone_number"' not in shown
    assert 'name="_save"' not in shown


def test_user_page_of_a_super_admin_is_not_saved_by_other_staff(support, super_admin):
    shown = on_user_page(support(), {"first_name": "Eve"})

    assert "Only a superuser may change a super admin." in shown
    assert the_user(ANN).email == ANN


@pytest.mark.parametrize("save", [on_account_page, on_user_page])
def test_superuser_can_change_a_super_admin(root, super_admin, save):
    keep = {"is_super_admin": "on"} if account().is_super_admin else {}
    user_form = {"is_superuser": "on"} if the_user(ANN).is_superuser else {}

    save(root, *([user_form] if save is on_user_page else []), phone_number=NEW, **keep)

    assert account().phone_number == NEW


def test_other_staff_cannot_revoke_sessions_of_a_super_admin(support, api, super_admin):
    browser = support()

    output = browser.act("account", "end_sessions", account()).content.decode()
    browser.act("session", "end", Session.objects.get())
    delete_one = browser.send(page(Session.objects.get(), "delete"), post="yes")
    browser.act("session", "delete_selected", Session.objects.get())

    assert "Skipped 1: only a superuser may do this to super admins." in output
    assert delete_one.status_code == 403
    assert api.get("me", token=super_admin["access_token"]).status == 200


def test_other_staff_can_revoke_sessions_of_other_users(support, api, super_admin):
    bob = api.sign_up("bob@example.com")

    support().act("account", "end_sessions", account(), account("bob@example.com"))

    assert api.get("me", token=bob["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.get("me", token=super_admin["access_token"]).status == 200


def test_other_staff_cannot_unlock_a_super_admin(support, api, super_admin):
    for _ in range(BUDGET.limit):
        api.post("login", email=ANN, password="wrong")

    support().act("account", "unlock", account())

    assert api.post("login", email=ANN, password=PASSWORD).status == 429


DELETIONS = pytest.mark.parametrize("delete", [delete, delete_selected])


@DELETIONS
def test_other_staff_cannot_delete_a_super_admin(root, support, super_admin, delete):
    delete(support(), the_user(ANN))

    assert get_user_model().objects.filter(pk=account().pk).exists()


@DELETIONS
def test_other_staff_can_delete_other_users(root, support, ann, delete):
    delete(support(), the_user(ANN))

    assert not Account.objects.filter(email=ANN).exists()


def test_user_page_with_guard_refuses_other_staff(support, super_admin, monkeypatch):
    model = get_user_model()

    class GuardedUsers(SuperAdminGuard, UserAdmin):
        pass

    browser, user = support(), the_user(ANN)
    monkeypatch.setitem(admin.site._registry, model, GuardedUsers(model, admin.site))
    guarded = GuardedUsers(model, admin.site)
    request = type("Request", (), {"user": browser.user})()

    assert guarded.has_change_permission(request, user) is False
    assert guarded.has_delete_permission(request, user) is False
    assert guarded.has_change_permission(request, browser.user) is True


# Users without an account


@pytest.fixture
def user_without_account():
    """`user_without_account(**fields)` creates a user without an account."""

    def make(email=NEW_USER, **fields):
        get_user_model().objects.bulk_create([unsaved(email, **fields)])
        return the_user(email)

    return make


@DELETIONS
def test_deletion_of_user_without_account_is_recorded(root, user_without_account, recorded, delete):
    user = user_without_account()

    delete(root, user)

    assert not get_user_model().objects.filter(pk=user.pk).exists()
    (event,) = recorded("admin.user.deleted")
    assert (event.user, event.actor_type) == (root.user, "admin")
    assert event.metadata["email"] == {"before": NEW_USER, "after": None}


@DELETIONS
def test_deletion_of_several_users_without_account_is_recorded(
    root, user_without_account, recorded, delete
):
    delete(root, user_without_account(), user_without_account("newer@example.com"))

    assert len(recorded("admin.user.deleted")) == 2


@pytest.mark.django_db(transaction=True)
@DELETIONS
def test_other_staff_cannot_delete_a_superuser_without_account(
    root, support, user_without_account, ann, delete
):
    super_admin = user_without_account(is_superuser=True)

    delete(support(), super_admin)

    assert get_user_model().objects.filter(pk=super_admin.pk).exists()


@pytest.mark.django_db(transaction=True)
@DELETIONS
def test_last_super_admin_without_account_cannot_be_deleted(root, user_without_account, delete):
    super_admin = user_without_account(is_superuser=True, is_staff=True)
    change("root@example.com", is_superuser=False)

    delete(Browser(super_admin), super_admin)

    assert get_user_model().objects.filter(pk=super_admin.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_all_super_admins_without_account_cannot_be_deleted_together(root, user_without_account):
    first = user_without_account(is_superuser=True)
    second = user_without_account("newer@example.com", is_superuser=True)
    Account.objects.all().delete()

    delete_selected(root, first, second, root.user)

    assert get_user_model().objects.filter(is_superuser=True).count() == 3


def test_superuser_without_account_counts_as_remaining_super_admin(root, user_without_account):
    user_without_account(is_superuser=True)

    delete(root, root.user)

    assert get_user_model().objects.filter(is_superuser=True).count() == 1


def test_user_without_account_deleted_by_the_host_is_not_recorded_as_staff(
    user_without_account, recorded
):
    user_without_account().delete()

    assert recorded("admin.user.deleted") == []


# Signal receivers


def receivers():
    return len(request_finished.receivers)


def test_requests_of_the_host_run_no_receiver_of_authservice(root, ann):
    before = receivers()

    root.see(page(the_user(ANN), "delete"))
    delete(root, the_user(ANN))
    Client().get("/admin/login/")

    assert receivers() == before
    assert not any("authservice" in str(entry[0]) for entry in request_finished.receivers)


def test_deletion_is_not_recorded_for_staff_of_an_earlier_request(root, ann, recorded):
    root.see(page(the_user(ANN), "delete"))

    the_user(ANN).delete()

    assert recorded("admin.user.deleted") == []
