"""On a user page with `SuperAdminGuard` only superusers change rights, and changes are recorded."""

import django
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from tests.admin.inside.conftest import staff
from tests.admin.urls import GuardedAdmin
from tests.support.client import PASSWORD
from tests.support.people import email_field, has, make_user, permission, the_user

pytestmark = pytest.mark.django_db

ANN, HELPER, ROOT = "ann@example.com", "helper@example.com", "root@example.com"
ALL = {"is_superuser": "on", "is_staff": "on"}


def guarded_page(view, *keys):
    meta = get_user_model()._meta
    return reverse(f"guarded:{meta.app_label}_{meta.model_name}_{view}", args=keys)


def save(browser, user, **changes):
    """Save the guarded page of a user; unchanged fields are sent with their values."""
    flags = [name for name in ("is_active", "is_staff", "is_superuser") if getattr(user, name)]
    form = {email_field(): getattr(user, email_field()), **dict.fromkeys(flags, "on")}
    if has("username"):
        form |= {"username": user.username, "date_joined_0": "2030-01-01", "date_joined_1": "12:00"}
    form = {**form, **_memberships(), **changes}
    sent = {name: value for name, value in form.items() if value is not None}
    return browser.send(guarded_page("change", user.pk), **sent)


def _memberships(total=0, **fields):
    """The inline of groups."""
    prefix = f"{get_user_model().groups.through.__name__}"
    management = {"TOTAL_FORMS": total, "INITIAL_FORMS": 0}
    return {f"{prefix}-{name}": value for name, value in {**management, **fields}.items()}


def rights(email):
    user = the_user(email)
    return {
        "is_superuser": user.is_superuser,
        "is_staff": user.is_staff,
        "groups": user.groups.count(),
        "user_permissions": user.user_permissions.count(),
    }


@pytest.fixture
def editors():
    return Group.objects.create(name="editors")


@pytest.fixture
def support(helper):
    """A staff user with the permissions to view, add and change users only."""
    name = get_user_model()._meta.model_name
    return helper(f"view_{name}", f"change_{name}", f"add_{name}")


@pytest.fixture
def everything(editors):
    """Form fields that request every right."""
    keys = list(Permission.objects.values_list("pk", flat=True))
    return {**ALL, "groups": [editors.pk], "user_permissions": keys}


def test_staff_cannot_make_themselves_superusers(support, everything, recorded):
    before = rights(HELPER)

    assert save(support, support.user, **everything).status_code == 200

    assert rights(HELPER) == before
    assert recorded("admin.user.rights_changed") == []


def test_staff_cannot_give_rights_to_another_user(support, everything, recorded):
    ann = make_user(ANN)
    before = rights(ANN)

    save(support, ann, **everything)

    assert rights(ANN) == before
    assert recorded("admin.user.rights_changed") == []


def test_staff_cannot_take_rights_from_other_staff(support, editors):
    ann = staff(ANN, "view_account")
    ann.groups.add(editors)
    before = rights(ANN)

    save(support, ann, is_staff=None, groups=[], user_permissions=[])

    assert rights(ANN) == before


def test_staff_can_change_other_fields(support):
    user = make_user(ANN)

    save(support, user, **{email_field(): "anna@example.com"})

    assert the_user("anna@example.com").pk == user.pk


def test_guarded_page_shows_staff_the_rights_read_only(support, editors):
    ann = make_user(ANN)
    ann.groups.add(editors)

    shown = support.see(guarded_page("change", ann.pk))

    assert "editors" in shown
    for name in ("is_superuser", "is_staff", "groups", "user_permissions"):
        assert f'name="{name}"' not in shown
    assert f'name="{email_field()}"' in shown


def add(browser, **more):
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    form = {email_field(): ANN, "username": "ann", "is_active": "on", **passwords, **_memberships()}
    return browser.send(guarded_page("add"), **{**form, **more})


def new_user(browser):
    return get_user_model().objects.exclude(pk=browser.user.pk).get()


def test_staff_cannot_add_user_with_rights(support, everything, recorded):
    add(support, **everything)

    added = new_user(support)
    assert (added.is_superuser, added.is_staff) == (False, False)
    assert not added.groups.exists()
    assert not added.user_permissions.exists()
    assert recorded("admin.user.rights_changed") == []


def test_guarded_page_of_a_new_user_has_no_fields_for_rights(support):
    shown = support.see(guarded_page("add"))

    assert 'name="is_superuser"' not in shown
    assert 'name="groups"' not in shown


# Lists and inlines, where Django ignores `get_readonly_fields`


def save_list(browser, user, **fields):
    form = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": user.pk, "_save": "Save"}
    return browser.send(
        guarded_page("changelist"), **form, **{f"form-0-{name}": v for name, v in fields.items()}
    )


@pytest.fixture
def only(monkeypatch):
    """`only(user)` narrows the list to one user."""

    def narrow(user):
        users = get_user_model().objects.filter(pk=user.pk)
        monkeypatch.setattr(GuardedAdmin, "get_queryset", lambda page, request: users)

    return narrow


def test_staff_cannot_give_rights_in_a_list(support, only, recorded):
    ann = make_user(ANN)
    only(ann)

    assert save_list(support, ann, is_active="on", is_staff="on").status_code == 403

    assert the_user(ANN).is_staff is False
    assert recorded("admin.user.rights_changed") == []


def test_staff_cannot_suspend_a_superuser_in_a_list(support, only):
    boss = make_user(ANN, is_superuser=True)
    only(boss)

    # From Django 6.1 on, the list leaves the row out of what it saves.
    status = 403 if django.VERSION < (6, 1) else 200
    assert save_list(support, boss).status_code == status

    assert the_user(ANN).is_active is True


def test_staff_can_change_other_users_in_a_list(support, only):
    ann = make_user(ANN)
    only(ann)

    assert save_list(support, ann).status_code == 200

    assert the_user(ANN).is_active is False


def test_staff_cannot_add_a_group_by_an_inline(helper, editors):
    name = get_user_model()._meta.model_name
    browser, ann = helper(f"change_{name}", "view_group", "change_group"), make_user(ANN)
    inline = _memberships(1, **{"0-group": editors.pk, "0-user": ann.pk})

    assert save(browser, ann, **inline).status_code == 403

    assert not ann.groups.exists()


# Superusers


def test_rights_given_by_a_superuser_are_recorded(root, editors, recorded):
    ann = make_user(ANN)

    save(root, ann, **ALL, groups=[editors.pk], user_permissions=[permission("view_group").pk])

    assert rights(ANN) == {
        "is_superuser": True,
        "is_staff": True,
        "groups": 1,
        "user_permissions": 1,
    }
    (event,) = recorded("admin.user.rights_changed")
    assert (event.user, event.target, event.actor_type) == (root.user, ann, "admin")
    assert event.severity == "warning"
    assert event.client.address == "127.0.0.1"
    assert event.metadata == {
        "is_superuser": {"before": False, "after": True},
        "is_staff": {"before": False, "after": True},
        "groups": {"before": [], "after": ["editors"]},
        "user_permissions": {"before": [], "after": ["auth.view_group"]},
    }


def test_rights_taken_by_a_superuser_are_recorded(root, editors, recorded):
    ann = staff(ANN)
    ann.groups.add(editors)

    save(root, ann, is_staff=None)

    assert rights(ANN)["groups"] == 0
    (event,) = recorded("admin.user.rights_changed")
    assert event.metadata == {
        "is_staff": {"before": True, "after": False},
        "groups": {"before": ["editors"], "after": []},
    }


def test_rights_changed_by_a_superuser_in_a_list_are_recorded(root, only, recorded):
    ann = make_user(ANN)
    only(ann)

    assert save_list(root, ann, is_active="on", is_staff="on").status_code == 200

    (event,) = recorded("admin.user.rights_changed")
    assert event.metadata == {"is_staff": {"before": False, "after": True}}


def test_rights_of_a_new_user_are_recorded(root, recorded):
    add(root, is_staff="on")

    (event,) = recorded("admin.user.rights_changed")
    assert event.target == new_user(root)
    assert event.metadata == {"is_staff": {"before": False, "after": True}}


def test_unchanged_rights_are_not_recorded(root, recorded):
    save(root, make_user(ANN), **{email_field(): "anna@example.com"})

    assert recorded("admin.user.rights_changed") == []
