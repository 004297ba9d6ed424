"""Staff find invitations, send them again and cancel them, and see no token."""

import pytest
from django.contrib.auth import get_user_model
from django.test import TestCase
from django.urls import reverse

from authservice.core.messages import sending
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import KIND
from authservice.kernel.modules import plugged
from tests.admin.inside.conftest import page
from tests.invitation.invites import BOB, Invites
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office

pytestmark = pytest.mark.django_db

LIST = "admin:authservice_invitation_platforminvitation_changelist"


@pytest.fixture(autouse=True)
def _messenger():
    office.jobs.clear()
    with plugged("messenger", office):
        yield


@pytest.fixture
def invites():
    api = CommittingApi()
    token = api.sign_up()["access_token"]
    office.jobs.clear()
    return Invites(api, office, token)


@pytest.fixture
def act():
    """`act(browser, "cancel", row)` runs an action of the list."""

    def act(browser, action, *rows):
        form = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
        with TestCase.captureOnCommitCallbacks(execute=True):
            return browser.send(reverse(LIST), **form)

    return act


@pytest.fixture
def row(invites):
    return PlatformInvitation.objects.get(pk=invites.sent())


def test_list_is_searched_by_address_and_sender_and_shows_no_token(root, invites, row):
    invites.sent("carol@example.com")
    invites.read()
    digest = PlatformInvitation.objects.get(email="carol@example.com").token_digest

    found = root.see(reverse(LIST), q="bob@")
    by_sender = root.see(reverse(LIST), q="ann@example.com")

    assert BOB in found
    assert "carol@" not in found
    assert "carol@" in by_sender
    assert digest not in by_sender + root.see(page(row))


def test_tokens_are_no_filter_of_the_list(root, row):
    root.see(f"{reverse(LIST)}?token_digest__startswith=a", status=400)


def test_send_again_makes_a_new_link_in_the_name_of_the_sender(root, invites, row, act, recorded):
    old = invites.read()

    act(root, "send_again", row)

    assert office.kinds() == [KIND, KIND]
    assert invites.decline(old).code == "INVITATION_NOT_FOUND"
    [*_, event] = recorded("invitation.sent")
    assert (event.user.pk, event.actor_type) == (root.user.pk, "admin")
    assert (event.target.pk, event.metadata["again"]) == (row.inviter_id, True)
    assert invites.accept_as_new(invites.read()).status == 200


def test_cancel_ends_the_invitation(root, invites, row, act, recorded):
    token = invites.read()

    act(root, "cancel", row)

    assert invites.accept_as_new(token).code == "INVITATION_NOT_PENDING"
    [event] = recorded("invitation.cancelled")
    assert (event.user.pk, event.target.pk) == (root.user.pk, row.inviter_id)


def test_closed_invitation_is_skipped_with_a_message(root, invites, row, act):
    invites.decline(invites.read())

    for action in ("send_again", "cancel"):
        shown = act(root, action, row).content.decode()

        assert ": 0." in shown
        assert "@example.com: The invitation is no longer pending." in shown


def test_send_again_past_the_limit_on_mails_is_skipped_with_a_message(root, row, act):
    act(root, "send_again", row)

    shown = act(root, "send_again", row).content.decode()

    assert "Too many requests" in shown
    assert len(office.jobs) == 2


def test_staff_who_may_only_look_run_no_action(helper, row, act):
    viewer = helper("view_platforminvitation")
    assert BOB in viewer.see(reverse(LIST))

    act(viewer, "cancel", row)

    row.refresh_from_db()
    assert row.status == "pending"


def test_staff_with_the_permission_run_actions_but_change_and_delete_nothing(helper, row, act):
    staff = helper("view_platforminvitation", "change_platforminvitation")

    staff.see(page(row, "delete"), status=403)
    staff.send(page(row), email="eve@example.com", status="accepted")
    act(staff, "cancel", row)

    row.refresh_from_db()
    assert (row.email, row.status) == (BOB, "cancelled")


ADD = "admin:authservice_invitation_platforminvitation_add"


@pytest.fixture
def invite(invites):
    """`invite(browser)` sends the form; the address that the page then shows, and its HTML."""

    def send(browser, **form):
        with TestCase.captureOnCommitCallbacks(execute=True):
            page = browser.send(reverse(ADD), **{"email": BOB, "purpose": "platform", **form})
        return page.request["PATH_INFO"], page.content.decode()

    return send


def test_staff_invite_an_address_that_signs_up_by_the_link(
    helper, invite, invites, recorded, configure
):
    configure(CORE={"ALLOW_SIGNUP": False})
    staff = helper("add_platforminvitation", "view_platforminvitation")
    assert 'value="platform"' in staff.see(reverse(ADD))

    path, shown = invite(staff, email=" bob@example.com ", metadata='{\r\n"team": 1}')

    row = PlatformInvitation.objects.get()
    assert path == reverse(LIST)
    assert "was added successfully" in shown
    assert (row.email, row.inviter, row.metadata) == (BOB, staff.user, '{\n"team": 1}')
    [event] = recorded("invitation.sent")
    assert (event.user.pk, event.actor_type) == (staff.user.pk, "admin")
    assert invites.accept_as_new(invites.read()).status == 200


@pytest.mark.parametrize(
    ("form", "settings_of", "error"),
    [
        ({"email": "bob@localhost"}, {}, "at a domain with a public name"),
        ({"email": ""}, {}, "This field is required."),
        ({"metadata": "{"}, {}, "JSON"),
        ({"purpose": "x" * 65}, {}, "64 characters"),
        ({"purpose": "beta"}, {"ALLOWED_PURPOSES": ["team"]}, "team"),
        ({}, {"MAX_PENDING_PER_EMAIL": 1}, "too many pending"),
    ],
)
def test_refused_invitation_is_an_error_of_the_form_and_nothing_is_lost(
    root, invites, invite, configure, form, settings_of, error
):
    configure(INVITATION=settings_of)
    if not form:
        invites.sent()
    before = list(PlatformInvitation.objects.values_list("pk", flat=True))

    path, shown = invite(root, **form)

    assert path == reverse(ADD)
    assert error in shown
    assert form.get("email", BOB) in shown
    assert list(PlatformInvitation.objects.values_list("pk", flat=True)) == before


def test_second_invitation_of_an_address_by_the_same_member_of_staff_is_refused(root, invite):
    invite(root)

    _, shown = invite(root)

    assert "already" in shown
    assert PlatformInvitation.objects.count() == 1


def test_staff_cannot_invite_without_the_permission_or_if_the_project_does_not_let_them(
    helper, root, configure
):
    viewer = helper("view_platforminvitation", "change_platforminvitation")
    assert reverse(ADD) not in viewer.see(reverse(LIST))
    viewer.see(reverse(ADD), status=403)

    configure(INVITATION={"WHO_MAY_INVITE": f"{__name__}.nobody"})
    root.see(reverse(ADD), status=403)


def nobody(user):
    return False


def test_invitation_that_is_not_mailed_says_so(root, invite, monkeypatch):
    monkeypatch.setattr(sending, "count_invitation_mail", lambda *_: False)

    _, shown = invite(root)

    assert "No e-mail was sent" in shown
    assert PlatformInvitation.objects.count() == 1
    assert office.kinds() == []


def test_without_mails_staff_see_that_nothing_is_sent(root, invite):
    with plugged("messenger", None):
        _, shown = invite(root)

    assert "not configured" in shown
    assert not PlatformInvitation.objects.exists()


def test_deletion_of_a_user_in_django_admin_takes_the_invitations_along(root, row):
    user = get_user_model().objects.get(pk=row.inviter_id)

    root.send(page(user, "delete"), post="yes")

    assert not PlatformInvitation.objects.exists()
