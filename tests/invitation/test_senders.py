"""`INVITATION.WHO_MAY_INVITE`: whose invitations are sent, and count."""

import pytest

from authservice.core import errors
from authservice.invitation import platform_invitations
from authservice.invitation.models import PlatformInvitation
from authservice.kernel.client import Client
from tests.admin_api.people import promote
from tests.invitation.invites import BOB
from tests.support.people import deactivate, the_user

pytestmark = pytest.mark.django_db

REFUSED = (403, "FORBIDDEN")
NOT_PENDING = (400, "INVITATION_NOT_PENDING")
HOOK = "tests.invitation.invites.is_ann"


def test_everyone_may_invite_by_default(invites):
    assert invites.send().status == 201


def test_only_super_admins_may_invite(invites, invitation, post):
    invitation(WHO_MAY_INVITE="super_admins")

    assert invites.send().error == REFUSED
    assert post.jobs == []

    promote("ann@example.com")
    assert invites.send().status == 201


def test_function_of_the_project_decides(api, invites, invitation):
    invitation(WHO_MAY_INVITE=HOOK)
    assert invites.send().status == 201

    invites.token = api.sign_up(BOB)["access_token"]

    assert invites.send("carol@example.com").error == REFUSED


def test_sender_who_lost_the_right_cancels_but_sends_nothing_again(invites, invitation):
    sent = invites.sent()
    invitation(WHO_MAY_INVITE="super_admins")

    assert invites.resend(sent).error == REFUSED
    assert invites.cancel(sent).status == 200


def test_invitation_of_a_sender_who_lost_the_right_is_void(invites, invitation):
    token = invites.mailed()
    invitation(WHO_MAY_INVITE="super_admins")

    assert invites.accept_as_new(token).error == NOT_PENDING
    assert invites.decline(token).status == 200


@pytest.mark.parametrize("suspended", [False, True])
def test_staff_do_not_send_a_link_again_that_nobody_could_use(invites, invitation, post, suspended):
    invites.sent()
    post.jobs.clear()
    if suspended:
        deactivate("ann@example.com")
    else:
        invitation(WHO_MAY_INVITE="super_admins")

    with pytest.raises(errors.InvitationNotPending):
        platform_invitations.resend_by_staff(PlatformInvitation.objects.get(), the_user(), Client())
    assert post.jobs == []


def test_invitation_counts_again_with_the_right(invites, invitation):
    token = invites.mailed()
    invitation(WHO_MAY_INVITE="super_admins")
    invites.accept_as_new(token)
    promote("ann@example.com")

    assert invites.accept_as_new(token).status == 200
    assert the_user(BOB).pk
