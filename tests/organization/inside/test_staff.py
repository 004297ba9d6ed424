"""Django admin and the command: what staff and operators do with organizations."""

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client as Visitor
from django.test import TestCase
from django.utils import timezone

from authservice.core.errors import InvitationAlreadyExists, InvitationNotFound
from authservice.core.messages import limits
from authservice.core.models import Session
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyRequests
from authservice.kernel.http.fields import MARKS
from authservice.organization import staff
from authservice.organization.errors import AlreadyAMember, LastOwner, MemberNotFound
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from tests.organization.inside.people import join, role_of
from tests.organization.inside.test_invitations import KIND, invite
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

BASE = "/admin/authservice_organization/"


@pytest.fixture
def boss():
    """A superuser in Django admin."""
    client = Visitor()
    client.force_login(make_user("boss@example.com", is_staff=True, is_superuser=True))
    return client


def act(boss, page, action, *rows):
    path, chosen = f"{BASE}{page}/", [str(row.pk) for row in rows]
    with TestCase.captureOnCommitCallbacks(execute=True):
        answer = boss.post(path, {"action": action, "_selected_action": chosen}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("page", ["organization", "membership", "organizationinvitation"])
def test_list_is_shown_searched_and_filtered(boss, ann, acme, page):
    invite(ann, acme)

    assert "cme" in boss.get(f"{BASE}{page}/").content.decode()
    assert "cme" in boss.get(f"{BASE}{page}/?q=acme").content.decode()
    oracle = boss.get(f"{BASE}{page}/?founder__password__startswith=x")
    assert oracle.status_code in (302, 400)


@pytest.mark.parametrize(
    ("page", "text", "number"),
    [
        *(("organization", "example.com", 1), ("organization", "ANN@", 1)),
        *(("membership", "example.com", 2), ("membership", "ANN@ acme", 1)),
        *(("organization", "nobody@", 0), ("membership", "ANN@ nothing", 0)),
    ],
)
def test_rows_are_found_by_members_once_each(boss, ann, acme, member, page, text, number):
    shown = boss.get(f"{BASE}{page}/", {"q": text}).context["cl"]

    assert len(shown.queryset) == number


def test_page_shows_members_and_invitations_without_a_token(boss, ann, acme, post):
    invite(ann, acme)
    token = post.token(KIND)
    row = OrganizationInvitation.objects.get()

    page = boss.get(f"{BASE}organization/{acme}/change/").content.decode()

    assert "cat@example.com" in page
    assert "owner" in page
    shown = boss.get(f"{BASE}organizationinvitation/{row.pk}/change/").content.decode()
    for secret in (token, row.token_digest):
        assert secret not in page + shown


def test_deletion_is_recorded_and_ends_the_claims(boss, ann, acme, events):
    ann.switch(acme)

    boss.post(f"{BASE}organization/{acme}/delete/", {"post": "yes"})

    assert not Organization.objects.exists()
    assert not Session.objects.filter(organization_id=acme).exists()
    assert [event.action for event in events()][-1:] == ["org.deleted"]


def test_selected_organizations_are_deleted(boss, ann, acme):
    rows = [str(Organization.objects.get().pk)]
    body = {"action": "delete_selected", "_selected_action": rows, "post": "yes"}

    boss.post(f"{BASE}organization/", body)

    assert not Organization.objects.exists()


def test_nobody_adds_organizations_or_edits_members(boss, acme):
    row = Membership.objects.get()

    assert boss.get(f"{BASE}organization/add/").status_code == 403
    assert boss.post(f"{BASE}membership/{row.pk}/change/", {"role": "member"}).status_code == 403
    assert boss.post(f"{BASE}membership/{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_ownership_is_transferred(boss, ann, acme, member, events):
    act(boss, "membership", "transfer_ownership", Membership.objects.get(user=member.user))

    assert (role_of(acme, member), role_of(acme, ann)) == ("owner", "admin")
    assert [event.action for event in events()] == ["org.member.role_changed"] * 2


def test_ownership_is_transferred_to_one_member_only(boss, ann, acme, member):
    text = act(boss, "membership", "transfer_ownership", *Membership.objects.all())

    assert "Select one member of each organization" in text
    assert role_of(acme, ann) == "owner"


def test_owner_who_was_no_member_is_recorded_as_a_new_one(ann, acme, bob, events):
    staff.transfer(Organization.objects.get(), bob.user, client=Client())

    assert [(event.action, event.target) for event in events()] == [
        ("org.member.added", bob.user),
        ("org.member.role_changed", ann.user),
    ]
    assert events()[0].metadata == {"organization": acme, "role": "owner"}


def test_member_whom_staff_remove_loses_the_active_organization(boss, acme, member):
    member.switch(acme)

    act(boss, "membership", "remove_members", Membership.objects.get(user=member.user))

    assert not Session.objects.filter(organization_id=acme).exists()


def test_members_are_removed_except_the_last_owner(boss, ann, acme, member, events):
    text = act(boss, "membership", "remove_members", *Membership.objects.all())

    assert "The last owner of an organization cannot be removed" in text
    assert [row.user_id for row in Membership.objects.all()] == [ann.user.pk]
    assert [event.action for event in events()] == ["org.member.removed"]


def test_member_who_became_the_last_owner_meanwhile_stays(ann, acme, member):
    """The list from which staff select is older than the removal."""
    listed = Membership.objects.get(user=member.user)
    staff.transfer(listed.organization, member.user, client=Client())

    with pytest.raises(LastOwner):
        staff.remove(listed, by=None, client=Client())
    assert role_of(acme, member) == "owner"


def test_member_who_left_meanwhile_is_not_recorded(ann, acme, member, events):
    listed = Membership.objects.get(user=member.user)
    Membership.objects.filter(pk=listed.pk).delete()

    with pytest.raises(MemberNotFound):
        staff.remove(listed, by=None, client=Client())
    assert events() == []


def test_invitation_is_sent_again_and_cancelled(boss, ann, acme, post, events):
    invite(ann, acme)
    row = OrganizationInvitation.objects.get()
    old = post.token(KIND)

    act(boss, "organizationinvitation", "send_again", row)
    assert post.token(KIND) != old
    act(boss, "organizationinvitation", "cancel", row)
    text = act(boss, "organizationinvitation", "cancel", row)

    row.refresh_from_db()
    assert row.status == "cancelled"
    assert "The invitation is no longer pending." in text
    assert [(event.action, event.actor_type) for event in events()][1:] == [
        ("org.invitation.sent", "admin"),
        ("org.invitation.cancelled", "admin"),
    ]


def test_resend_is_skipped_if_the_inviter_may_invite_no_longer(boss, acme, member, post):
    """Nobody could accept such an invitation."""
    Membership.objects.filter(user=member.user).update(role="admin")
    invite(member, acme)
    Membership.objects.filter(user=member.user).delete()

    text = act(boss, "organizationinvitation", "send_again", OrganizationInvitation.objects.get())

    assert "The invitation is no longer pending." in text
    assert post.kinds().count(KIND) == 1


def test_resend_is_skipped_in_an_inactive_organization(boss, ann, acme, post):
    invite(ann, acme)
    Organization.objects.update(active=False)

    text = act(boss, "organizationinvitation", "send_again", OrganizationInvitation.objects.get())

    assert "The invitation is no longer pending." in text
    assert post.kinds().count(KIND) == 1


def test_resend_is_skipped_if_another_invitation_is_pending(boss, ann, acme, post, no_floods):
    invite(ann, acme)
    expired = OrganizationInvitation.objects.get()
    OrganizationInvitation.objects.update(expires_at=timezone.now())
    invite(ann, acme)

    text = act(boss, "organizationinvitation", "send_again", expired)

    assert str(InvitationAlreadyExists()) in text
    assert OrganizationInvitation.objects.pending().count() == 1
    assert post.kinds().count(KIND) == 2


def test_resend_is_skipped_if_the_recipient_has_joined(boss, ann, acme, bob, post):
    invite(ann, acme, bob.email)
    join(acme, bob)

    text = act(boss, "organizationinvitation", "send_again", OrganizationInvitation.objects.get())

    assert str(AlreadyAMember()) in text
    assert post.kinds().count(KIND) == 1


def test_staff_see_that_the_recipient_gets_no_more_today(
    boss, ann, acme, post, events, monkeypatch
):
    monkeypatch.setattr(limits, "NEW_SENDERS", replace(limits.NEW_SENDERS, amount=1))
    invite(ann, acme)

    text = act(boss, "organizationinvitation", "send_again", OrganizationInvitation.objects.get())

    assert str(TooManyRequests()) in text
    assert post.kinds().count(KIND) == 1
    assert [event.action for event in events()] == ["org.invitation.sent"]


def test_resend_of_an_invitation_deleted_meanwhile_is_refused(ann, acme, events):
    invite(ann, acme)
    listed = OrganizationInvitation.objects.get()
    OrganizationInvitation.objects.all().delete()

    with pytest.raises(InvitationNotFound):
        staff.resend(listed, by=None, client=Client())
    assert [event.action for event in events()] == ["org.invitation.sent"]


@pytest.mark.parametrize(
    ("action", "shown"), [("send_again", "Erneut gesendet: 1."), ("cancel", "Zurückgezogen: 1.")]
)
def test_messages_about_invitations_are_in_german(settings, boss, ann, acme, action, shown):
    settings.LANGUAGE_CODE = "de"
    invite(ann, acme)

    assert shown in act(
        boss, "organizationinvitation", action, OrganizationInvitation.objects.get()
    )


def command(*arguments):
    out = StringIO()
    call_command("authservice_organizations", *arguments, stdout=out)
    return out.getvalue()


def test_command_lists_creates_and_transfers(ann, bob):
    assert command("create", "Acme", ann.email).startswith("Created acme (")
    command("create", "Other", bob.email, "--slug", "second")

    row = Organization.objects.get(slug="acme")
    assert f"{row.pk} acme: Acme; owner {ann.id}, 1 member\n" in command("list")
    assert command("transfer", "acme", bob.email) == f"User {bob.id} owns acme now.\n"
    assert (role_of(row.pk, bob), role_of(row.pk, ann)) == ("owner", "admin")
    command("transfer", str(row.pk), ann.email)
    assert (role_of(row.pk, bob), role_of(row.pk, ann)) == ("admin", "owner")


def test_command_finds_organizations_without_an_owner(ann, acme, member):
    ann.found("Kept")
    Membership.objects.filter(organization=acme, role="owner").update(role="member")

    assert command("without-owner") == f"{acme} acme: Acme; owner nobody, 2 members\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("create", " ", "ann@example.com"), "1 to 255 characters"),
        (("create", "a\x07b\nc", "ann@example.com"), "control characters"),
        (("create", "Acme\t", "ann@example.com"), "control characters"),
        (("create", "broken \udc80", "ann@example.com"), "control characters"),
        (("create", "a" + "\u0301" * (MARKS + 1), "ann@example.com"), "30 combining marks"),
        (("create", "A", "ann@example.com", "--slug", "A"), "--slug: Must be"),
        (("create", "A", "ann@example.com", "--slug", "acme"), "taken or reserved"),
        (("create", "A", "nobody@example.com"), "There is no user"),
        (("transfer", "unknown", "ann@example.com"), "There is no organization 'unknown'"),
    ],
)
def test_command_refuses_wrong_arguments(ann, acme, arguments, text):
    with pytest.raises(CommandError, match=text):
        command(*arguments)


def test_command_stores_a_name_as_the_api_does(ann):
    command("create", " Re\u0301al" + "\u0302" * MARKS, ann.email)

    assert Organization.objects.get().name == "R\u00e9al" + "\u0302" * MARKS
