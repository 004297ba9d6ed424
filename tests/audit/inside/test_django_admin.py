"""The log in Django admin, and what the log says of deeds in Django admin and by commands."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from authservice.audit import admin
from authservice.audit.models import Entry
from authservice.core.models import Account, Session
from tests.admin.inside.conftest import listed, page
from tests.audit.kept import keep
from tests.audit.staff import Browser, check
from tests.audit.world import ANN, metadata
from tests.people import make_user, permission, the_user

pytestmark = pytest.mark.django_db

LIST = reverse("admin:authservice_audit_entry_changelist")


@pytest.fixture
def helper(world):
    def helper(*permissions):
        user = make_user("helper@example.com", is_staff=True)
        for codename in permissions:
            user.user_permissions.add(permission(codename))
        return Browser(user)

    return helper


@pytest.fixture
def entry(world):
    world.log_in(password="wrong")
    return Entry.objects.get()


# Reading


def test_the_log_is_read_with_the_permission_to_view_it(entry, helper):
    reader = helper("view_entry")

    assert entry.action in reader.get(LIST).content.decode()
    assert entry.details in reader.get(page(entry)).content.decode()


def test_without_it_the_log_is_closed(entry, helper):
    stranger = helper("view_account")

    assert stranger.get(LIST).status_code == 403
    assert stranger.get(page(entry)).status_code == 403


@pytest.mark.parametrize("lookup", ["metadata__icontains", "details__startswith", "request_id"])
def test_the_log_is_not_filtered_by_a_field_that_is_not_declared(entry, helper, lookup):
    assert helper("view_entry").get(LIST, **{lookup: "a"}).status_code == 400


@pytest.mark.parametrize("view", ["add", "delete"])
def test_nobody_adds_or_deletes_an_entry(entry, boss, view):
    path = reverse("admin:authservice_audit_entry_add") if view == "add" else page(entry, "delete")

    assert boss.get(path).status_code == 403
    assert boss.send(path, post="yes").status_code == 403


def test_nobody_changes_an_entry(world, boss):
    entry = keep("auth.logout", the_user(ANN))

    answer = boss.send(page(entry), action="auth.signup", severity="info", actor_id="")

    assert answer.status_code == 403
    assert Entry.objects.get(pk=entry.pk).action == "auth.logout"


def test_no_action_on_the_list_deletes(world, boss):
    entry = keep("auth.logout")

    boss.send(LIST, action="delete_selected", _selected_action=[str(entry.pk)], post="yes")

    assert Entry.objects.filter(pk=entry.pk).exists()


def test_deleting_a_user_in_admin_leaves_the_entries(world, boss):
    keep("auth.logout", the_user(ANN))
    boss.send(page(the_user(ANN), "delete"), post="yes")

    assert Entry.objects.filter(action="auth.logout").exists()


@pytest.mark.parametrize(
    "query",
    [{"action": "auth.logout"}, {"severity": "info"}, {"q": "ann"}],
    ids=str,
)
def test_the_list_is_narrowed(world, boss, query):
    ann = the_user(ANN)
    query = {name: str(ann.pk) if value == "ann" else value for name, value in query.items()}
    keep("auth.logout", ann)
    keep("auth.login.failed")

    shown = list(boss.get(LIST, **query).context["cl"].queryset)

    assert [entry.action for entry in shown] == ["auth.logout"]


def test_the_list_counts_no_further_than_the_cap(world, boss, monkeypatch):
    monkeypatch.setattr(admin, "COUNTED", 3)
    for _ in range(5):
        keep("auth.logout")

    assert boss.get(LIST).context["cl"].paginator.count == 3


# What staff do


def change(browser, account, **fields):
    form = {"name": account.name, "phone_number": account.phone_number, "avatar": account.avatar}
    return browser.send(page(account), **{**form, **fields})


def test_a_changed_account_is_told_of_with_the_address_of_staff(world, boss):
    change(boss, Account.objects.get(email=ANN), name="Anna", is_super_admin="on")

    assert world.log() == ["admin.user.updated boss ann"]
    check(world.entries())
    assert metadata(world.entries()[0])["name"] == {"before": "", "after": "Anna"}


def test_ended_sign_ins_are_told_of_with_the_address_of_staff(world, boss):
    boss.act("account", "end_sign_ins", Account.objects.get(email=ANN))

    assert world.log() == ["security.session.revoked boss ann"]
    check(world.entries())


def test_an_ended_sign_in_is_told_of(world, boss):
    boss.act("session", "end", Session.objects.get(user=the_user(ANN)))

    assert world.log() == ["security.session.revoked boss ann"]
    check(world.entries())


def test_a_deleted_sign_in_is_told_of_as_ended(world, boss):
    boss.send(page(Session.objects.get(user=the_user(ANN)), "delete"), post="yes")

    assert not Session.objects.filter(user=the_user(ANN)).exists()
    assert world.log() == ["security.session.revoked boss ann"]
    check(world.entries())


@pytest.mark.parametrize("query", ["", "?state=open"])
def test_sign_ins_deleted_from_the_list_are_told_of_as_ended(world, boss, query):
    rows = Session.objects.filter(user=the_user(ANN))
    boss.send(
        listed("session") + query,
        action="delete_selected",
        _selected_action=[str(row.pk) for row in rows.all()],
        post="yes",
    )

    assert not rows.exists()
    assert world.log() == ["security.session.revoked boss ann"]


def test_what_a_command_ends_is_the_systems_deed(world):
    call_command("authservice_revoke", user=ANN, verbosity=0)

    (entry,) = world.entries()
    assert world.log() == ["security.session.revoked system ann"]
    assert (entry.actor_type, entry.actor_id, entry.ip_address) == ("system", "", "")
