"""Who may press the buttons of the support page, and on whose account."""

import pytest
from django.utils.html import escape

from authservice.audit.models import Entry
from authservice.core import errors
from authservice.core.management.commands import authservice_support_group as support_group
from authservice.core.models import Account, Session
from authservice.core.staff import support_actions
from tests.admin.inside.conftest import Browser, staff
from tests.staff_support.inside.conftest import (
    ANN,
    NAMES,
    account,
    button,
    everything,
    offered,
    press,
    support_page,
)
from tests.support.people import change, deactivate, the_user

pytestmark = pytest.mark.django_db

FORBIDDEN, ROOT = "security.forbidden", "root@example.com"


@pytest.mark.parametrize("name", NAMES)
def test_button_needs_its_permission(enrolled, name):
    """Every permission of the group but that of the button."""
    needed = {one.name: one.permission for one in support_actions.buttons()}[name]
    others = [one for one in support_group.permissions() if one != needed]
    other = Browser(staff("other@example.com", *(one.partition(".")[2] for one in others)))
    before = everything()

    other.see(button(name), status=403)
    assert other._client.post(button(name)).status_code == 403
    assert everything() == before
    assert name not in offered(other.see(support_page()))


PROTECTED = {
    "superuser": lambda: change(ANN, is_superuser=True),
    "super admin": lambda: Account.objects.filter(pk=account().pk).update(is_super_admin=True),
    "staff": lambda: change(ANN, is_staff=True),
}


@pytest.mark.parametrize("kind", PROTECTED)
@pytest.mark.parametrize("name", NAMES)
def test_button_is_refused_on_an_account_of(kind, name, member, enrolled):
    if name == "reactivate":
        deactivate()
    PROTECTED[kind]()
    before = everything()

    member.see(button(name), status=403)
    assert member._client.post(button(name)).status_code == 403

    assert everything() == before
    assert f'"action":"support {name}"' in Entry.objects.get(action=FORBIDDEN).metadata


@pytest.mark.parametrize("kind", PROTECTED)
def test_page_of_a_protected_account_offers_no_button_and_says_why(kind, member, ann):
    PROTECTED[kind]()

    shown = member.see(support_page())
    assert offered(shown) == []
    assert "Only a superuser may act on staff, superusers and super admins." in shown


def test_superuser_may_help_staff(root, ann):
    PROTECTED["staff"]()

    assert "Ended 1 session." in press(root, "end-sessions")


def test_rights_are_read_again_when_the_button_is_pressed(member, ann, monkeypatch):
    """The account became one of staff after its page was read."""
    lock = support_actions.super_admins.lock_user

    def lock_later(pk, *, losing):
        PROTECTED["staff"]()
        return lock(pk, losing=losing)

    monkeypatch.setattr("authservice.core.staff.super_admins.lock_user", lock_later)

    assert member._client.post(button("end-sessions")).status_code == 403
    assert Session.objects.get().ended_at is None


def test_superuser_cannot_suspend_own_account(root, ann):
    assert escape(errors.CannotModifySelf.message) in press(root, "suspend", email=ROOT)
    assert the_user(ROOT).is_active


def test_superuser_may_suspend_another_one(root, ann):
    change(ANN, is_superuser=True)

    press(root, "suspend")

    assert not the_user(ANN).is_active


def test_view_is_outside_of_the_transaction_of_a_request(member, ann):
    match = member._client.get(support_page()).resolver_match
    assert match.func._non_atomic_requests == {"default"}
