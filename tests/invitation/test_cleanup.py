"""The cleanup deletes invitations some time after their end; a deleted user takes theirs along."""

import pytest
from django.core.management import call_command

from authservice.invitation.models import PlatformInvitation
from tests.invitation.invites import BOB
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("end", ["expired", "accept_as_new", "decline", "cancel"])
def test_ended_invitation_is_deleted_after_ninety_days(clock, invites, end):
    sent = invites.sent()
    days = 90
    if end == "expired":
        days += 7
    else:
        getattr(invites, end)(sent if end == "cancel" else invites.read())

    clock.forward(days=days, seconds=-1)
    call_command("authservice_cleanup")
    assert PlatformInvitation.objects.exists()
    clock.forward(seconds=1)
    call_command("authservice_cleanup")
    assert not PlatformInvitation.objects.exists()


def test_time_until_the_deletion_is_a_setting(clock, invites, invitation):
    invitation(KEPT=3600)
    invites.cancel(invites.sent())
    pending = invites.sent("carol@example.com")
    clock.forward(hours=1)

    call_command("authservice_cleanup")

    assert [str(row.pk) for row in PlatformInvitation.objects.all()] == [pending]


def test_deleting_the_sender_deletes_the_invitations_that_they_sent(invites, bob):
    invites.sent()
    invites.token = bob["access_token"]
    kept = invites.sent("carol@example.com")

    the_user().delete()

    assert [str(row.pk) for row in PlatformInvitation.objects.all()] == [kept]


def test_deleting_the_invited_user_leaves_the_invitation_to_the_address(invites, bob):
    token = invites.mailed()
    the_user(BOB).delete()

    assert invites.accept_as_new(token).data["is_new_user"] is True
