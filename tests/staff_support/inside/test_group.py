"""The command `authservice_support_group`, and what its members can and cannot do."""

from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.management import CommandError, call_command
from django.urls import reverse

from authservice.audit.models import Entry
from authservice.core.management.commands import authservice_support_group as support_group
from authservice.core.models import Account, Session
from authservice.core.staff import support_actions
from tests.admin.inside.conftest import listed, page
from tests.staff_support.inside.conftest import ANN, account, support_page
from tests.support.client import PASSWORD
from tests.support.people import has, make_user, permission, the_user

pytestmark = pytest.mark.django_db

NEW = "eve@example.com"


def run(*arguments):
    out = StringIO()
    call_command("authservice_support_group", *arguments, stdout=out)
    return out.getvalue()


def held(name="Support"):
    rows = Group.objects.get(name=name).permissions.select_related("content_type")
    return sorted(f"{row.content_type.app_label}.{row.codename}" for row in rows)


# The command


def test_group_has_exactly_the_permissions_of_the_page():
    output = run()

    assert held() == support_group.permissions()
    assert "Group Support: new." in output
    assert "+ authservice_core.support_account" in output


def test_group_needs_no_permission_but_views_and_buttons():
    buttons = {button.permission for button in support_actions.buttons()}

    others = {name for name in support_group.permissions() if ".view_" not in name}
    assert others == buttons


def test_second_run_changes_nothing():
    run()
    before = held()

    assert "exactly the permissions" in run()
    assert held() == before
    assert Group.objects.count() == 1


def test_group_loses_permissions_that_support_does_not_need():
    run()
    group = Group.objects.get()
    group.permissions.add(permission("change_account"))
    group.permissions.remove(permission("view_entry"))

    output = run("--replace")

    assert "- authservice_core.change_account" in output
    assert "+ authservice_audit.view_entry" in output
    assert held() == support_group.permissions()


def test_dry_run_changes_nothing():
    output = run("--dry-run")

    assert not Group.objects.exists()
    assert "Nothing is changed" in output
    assert "+ authservice_core.view_account" in output


def test_dry_run_shows_what_would_be_removed():
    run()
    Group.objects.get().permissions.add(permission("change_account"))

    assert "- authservice_core.change_account" in run("--replace", "--dry-run")
    assert "authservice_core.change_account" in held()


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_group_of_the_project_is_left_alone(arguments):
    """Its members may have other tasks: they would lose their permissions and gain those here."""
    Group.objects.create(name="Support").permissions.add(permission("change_account"))

    with pytest.raises(
        CommandError, match=r"other permissions: authservice_core\.change_account\."
    ):
        run(*arguments)

    assert held() == ["authservice_core.change_account"]


def test_group_may_have_another_name():
    run("--name", "First line")

    assert held("First line") == support_group.permissions()


@pytest.mark.parametrize("name", ["", "x" * 151])
def test_name_that_cannot_be_stored_is_refused(name):
    with pytest.raises(CommandError, match="--name"):
        run("--name", name)


def test_command_before_migrate_says_so():
    Permission.objects.filter(codename="support_account").delete()

    with pytest.raises(CommandError, match=r"Run migrate first.*support_account"):
        run()
    assert not Group.objects.exists()


# What members cannot do


def rows():
    users, groups = get_user_model().objects, Group.objects
    return [list(it.order_by("pk").values()) for it in (users, groups, Account.objects)]


def test_member_cannot_edit_the_account(member):
    before = rows()

    form = {"name": "Eve", "phone_number": "+4930123456", "avatar": "", "is_super_admin": "on"}
    member.send(page(account()), **form)

    assert rows() == before
    assert 'name="_save"' not in member.see(page(account()))


def test_member_cannot_change_the_address_or_the_password_of_a_user(member, api):
    before = rows()
    user = the_user()

    member.see(page(user), status=403)
    form = {"email": NEW, "username": "eve", "is_staff": "on", "is_superuser": "on"}
    assert member.send(page(user), **form).status_code == 403
    if has("username"):
        url = reverse("admin:auth_user_password_change", args=[user.pk])
        assert member.send(url, password1="x", password2="x").status_code == 403

    assert rows() == before
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_member_cannot_add_or_delete_anything(member, ann):
    user = the_user()
    meta = user._meta
    pages = [
        *(page(row, "delete") for row in (user, account(), Session.objects.get())),
        reverse(f"admin:{meta.app_label}_{meta.model_name}_add"),
        reverse("admin:authservice_core_session_add"),
        reverse("admin:authservice_organization_organization_add"),
    ]
    before = rows()

    for url in pages:
        assert member.send(url, post="yes").status_code == 403, url
    assert rows() == before


def test_member_cannot_grant_rights(member):
    urls = [reverse("admin:auth_group_add"), page(Group.objects.get())]
    before = rows()

    for url in urls:
        assert member.send(url, name="Support", permissions=["1"]).status_code == 403
    assert rows() == before


ACTIONS = [
    ("account", "end_sessions"),
    ("account", "unlock"),
    ("account", "resend_verification"),
    ("account", "delete_selected"),
    ("session", "end"),
    ("session", "delete_selected"),
]


@pytest.mark.parametrize(("model", "action"), ACTIONS)
def test_member_has_no_action_on_lists(member, api, ann, model, action):
    """Actions on lists reach staff too; the buttons of the support page do not."""
    row = account() if model == "account" else Session.objects.get()

    member.act(model, action, row)

    assert f'value="{action}"' not in member.see(listed(model))
    assert api.get("me", token=ann["access_token"]).status == 200


def test_member_cannot_press_buttons_on_own_account(member):
    shown = member.see(support_page("helper@example.com"))

    assert 'class="button"' not in shown


def test_member_without_staff_status_sees_nothing(ann, client):
    run()
    user = make_user("other@example.com")
    user.groups.add(Group.objects.get())
    client.force_login(user)

    assert client.get(support_page()).status_code == 302


def test_member_reads_the_log_and_cannot_change_it(member, api):
    api.post("login", email=ANN, password="wrong")
    entry = Entry.objects.latest("pk")

    assert entry.action in member.see(page(entry))
    assert member.send(page(entry), action="x").status_code == 403
    assert member.send(page(entry, "delete"), post="yes").status_code == 403
    assert Entry.objects.filter(pk=entry.pk, action=entry.action).exists()
