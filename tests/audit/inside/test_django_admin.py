"""The log in Django admin, and the entries of actions in Django admin and by commands."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib import admin as django_admin
from django.core.management import call_command
from django.db import DatabaseError
from django.urls import reverse
from django.utils import timezone

from authservice.audit import admin
from authservice.audit.models import Entry
from authservice.core.models import Account, OneTimeToken, Session
from tests.admin.inside.conftest import listed, page
from tests.audit.staff import Browser, check
from tests.audit.stored import store
from tests.audit.world import ANN, metadata
from tests.support.people import make_user, permission, the_user

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


def test_log_is_readable_with_the_view_permission(entry, helper):
    reader = helper("view_entry")

    assert entry.action in reader.get(LIST).content.decode()
    assert entry.details in reader.get(page(entry)).content.decode()


def test_log_is_forbidden_without_the_view_permission(entry, helper):
    other = helper("view_account")

    assert other.get(LIST).status_code == 403
    assert other.get(page(entry)).status_code == 403


@pytest.mark.parametrize("lookup", ["metadata__icontains", "details__startswith", "request_id"])
def test_log_refuses_filter_by_undeclared_field(entry, helper, lookup):
    assert helper("view_entry").get(LIST, **{lookup: "a"}).status_code == 400


@pytest.mark.parametrize("view", ["add", "delete"])
def test_entry_cannot_be_added_or_deleted_in_admin(entry, superuser, view):
    path = reverse("admin:authservice_audit_entry_add") if view == "add" else page(entry, "delete")

    assert superuser.get(path).status_code == 403
    assert superuser.send(path, post="yes").status_code == 403


def test_entry_cannot_be_changed_in_admin(world, superuser):
    entry = store("auth.logout", the_user(ANN))

    answer = superuser.send(page(entry), action="auth.signup", severity="info", actor_id="")

    assert answer.status_code == 403
    assert Entry.objects.get(pk=entry.pk).action == "auth.logout"


def test_entries_cannot_be_deleted_by_admin_action(world, superuser):
    entry = store("auth.logout")

    superuser.send(LIST, action="delete_selected", _selected_action=[str(entry.pk)], post="yes")

    assert Entry.objects.filter(pk=entry.pk).exists()


def test_entries_remain_after_user_is_deleted_in_admin(world, superuser):
    store("auth.logout", the_user(ANN))
    superuser.send(page(the_user(ANN), "delete"), post="yes")

    assert Entry.objects.filter(action="auth.logout").exists()


@pytest.mark.parametrize(
    "query",
    [{"action": "auth.logout"}, {"severity": "info"}, {"q": "ann"}],
    ids=str,
)
def test_log_in_admin_is_filtered(world, superuser, query):
    ann = the_user(ANN)
    query = {name: str(ann.pk) if value == "ann" else value for name, value in query.items()}
    store("auth.logout", ann)
    store("auth.login.failed")

    shown = list(superuser.get(LIST, **query).context["cl"].queryset)

    assert [entry.action for entry in shown] == ["auth.logout"]


def test_names_of_filters_are_in_german(world, superuser, settings):
    settings.LANGUAGE_CODE = "de"

    filters = superuser.get(LIST).context["cl"].filter_specs

    assert [str(each.title) for each in filters] == ["Zeit", "Aktion", "Schweregrad"]


def test_log_in_admin_counts_at_most_up_to_the_cap(world, superuser, monkeypatch):
    monkeypatch.setattr(admin, "COUNTED", 3)
    for _ in range(5):
        store("auth.logout")

    assert superuser.get(LIST).context["cl"].paginator.count == 3


# Actions of staff


def change(browser, account, **fields):
    form = {"name": account.name, "phone_number": account.phone_number, "avatar": account.avatar}
    return browser.send(page(account), **{**form, **fields})


def test_account_changed_in_admin_is_recorded_with_client_of_staff(world, superuser):
    change(superuser, Account.objects.get(email=ANN), name="Anna", is_super_admin="on")

    assert world.log() == ["admin.user.updated superuser ann"]
    check(world.entries())
    assert metadata(world.entries()[0])["name"] == {"before": "", "after": "Anna"}


def test_sessions_revoked_by_account_action_are_recorded_with_client_of_staff(world, superuser):
    superuser.act("account", "end_sessions", Account.objects.get(email=ANN))

    assert world.log() == ["security.session.revoked superuser ann"]
    check(world.entries())


def test_session_revoked_in_admin_is_recorded(world, superuser):
    superuser.act("session", "end", Session.objects.get(user=the_user(ANN)))

    assert world.log() == ["security.session.revoked superuser ann"]
    check(world.entries())


def test_session_deleted_in_admin_is_recorded_as_revoked(world, superuser):
    superuser.send(page(Session.objects.get(user=the_user(ANN)), "delete"), post="yes")

    assert not Session.objects.filter(user=the_user(ANN)).exists()
    assert world.log() == ["security.session.revoked superuser ann"]
    check(world.entries())


@pytest.mark.parametrize("query", ["", "?state=open"])
def test_sessions_deleted_in_admin_list_are_recorded_as_revoked(world, superuser, query):
    rows = Session.objects.filter(user=the_user(ANN))
    delete_selected(superuser, "session", rows.all(), query)

    assert not rows.exists()
    assert world.log() == ["security.session.revoked superuser ann"]


TOKEN = ["security.one_time_token.revoked superuser ann"]


@pytest.fixture
def link(world):
    """The link to reset the password of a user."""
    return one_time_token(the_user(ANN))


def one_time_token(user, **fields):
    tomorrow = timezone.now() + timedelta(days=1)
    return OneTimeToken.objects.create(
        purpose="reset-password", user=user, **{"expires_at": tomorrow, **fields}
    )


def delete_selected(browser, model, rows, query=""):
    browser.send(
        listed(model) + query,
        action="delete_selected",
        _selected_action=[str(row.pk) for row in rows],
        post="yes",
    )


def test_one_time_token_deleted_in_admin_is_recorded_as_revoked(world, superuser, link):
    superuser.send(page(link, "delete"), post="yes")

    assert not OneTimeToken.objects.filter(pk=link.pk).exists()
    assert world.log() == TOKEN
    check(world.entries())
    known = metadata(world.entries()[0])
    assert known["purpose"] == "reset-password"
    assert known["one_time_token"] == str(link.pk)


@pytest.mark.parametrize("query", ["", "?state=open"])
def test_one_time_tokens_deleted_in_admin_list_are_recorded_as_revoked(
    world, superuser, link, query
):
    rows = [link, one_time_token(the_user(ANN)), one_time_token(None)]

    delete_selected(superuser, "onetimetoken", rows, query)

    assert not OneTimeToken.objects.filter(pk__in=[row.pk for row in rows]).exists()
    assert sorted(world.log()) == sorted(
        [*TOKEN, *TOKEN, "security.one_time_token.revoked superuser"]
    )


def test_deletion_of_a_one_time_token_that_is_used_or_expired_is_not_recorded(world, superuser):
    now, ann = timezone.now(), the_user(ANN)
    rows = [one_time_token(ann, spent_at=now), one_time_token(ann, expires_at=now)]

    delete_selected(superuser, "onetimetoken", rows)

    assert not OneTimeToken.objects.filter(pk__in=[row.pk for row in rows]).exists()
    assert world.log() == []


def test_one_time_token_that_cannot_be_deleted_is_not_recorded(world, superuser, link, monkeypatch):
    def fail(*_arguments):
        raise DatabaseError

    monkeypatch.setattr(django_admin.ModelAdmin, "delete_queryset", fail)
    with pytest.raises(DatabaseError):
        delete_selected(superuser, "onetimetoken", [link])

    assert world.log() == []


def test_only_rows_whose_deletion_is_recorded_can_be_deleted_on_their_own_page(rf, superuser):
    request, ours = rf.get("/"), []
    request.user = superuser.user
    for model, shown in django_admin.site._registry.items():
        request.resolver_match = SimpleNamespace(
            url_name=f"{shown.opts.app_label}_{shown.opts.model_name}_changelist"
        )
        if model.__module__.startswith("authservice.") and shown.has_delete_permission(request):
            ours.append(model._meta.label)

    assert sorted(ours) == [
        "authservice_core.OneTimeToken",
        "authservice_core.Session",
        "authservice_organization.Organization",
    ]


def test_session_revoked_by_command_is_recorded_as_action_of_the_system(world):
    call_command("authservice_revoke", user=ANN, verbosity=0)

    (entry,) = world.entries()
    assert world.log() == ["security.session.revoked system ann"]
    assert (entry.actor_type, entry.actor_id, entry.ip_address) == ("system", "", "")
