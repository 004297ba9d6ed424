"""Each link answers once; the error says why it no longer does."""

import pytest

from authservice.core.invitations import closing
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import clock as source
from tests.invitation.invites import BOB
from tests.support.people import deactivate, the_user, users

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_floods")]

NOT_FOUND, NOT_PENDING = (404, "INVITATION_NOT_FOUND"), (400, "INVITATION_NOT_PENDING")
EXPIRED = (400, "INVITATION_EXPIRED")
ANSWERS = ("accept_as_new", "decline")


@pytest.fixture(params=ANSWERS)
def answer(request, invites):
    return getattr(invites, request.param)


def test_unknown_token_is_not_found(answer):
    assert answer("x" * 43).error == NOT_FOUND


def test_id_of_an_invitation_is_no_token(invites, answer):
    assert answer(invites.sent()).error == NOT_FOUND


def test_token_of_another_purpose_is_not_found(api, post, answer):
    api.post("forgot-password", email="ann@example.com")

    assert answer(post.token("reset-link")).error == NOT_FOUND


def test_expired_invitation_is_refused(invites, clock, answer, ann, api):
    invites.token = api.log_in()["access_token"]
    token = invites.mailed()
    clock.forward(days=7)

    assert answer(token).error == EXPIRED
    assert users() == 1


def test_invitation_that_expires_during_the_request_is_refused(
    invites, clock, answer, api, monkeypatch
):
    """The request may wait, such as for a password hash or a lock."""
    invites.token = api.log_in()["access_token"]
    token = invites.mailed()
    clock.forward(days=6, hours=23, minutes=59, seconds=45)
    find, monotonic = closing.find, source.monotonic

    def find_slowly(*args):
        found = find(*args)
        monkeypatch.setattr(source, "monotonic", lambda: monotonic() + 30)
        return found

    monkeypatch.setattr(closing, "find", find_slowly)

    assert answer(token).error == EXPIRED
    assert PlatformInvitation.objects.get().status == "pending"
    assert users() == 1


def test_cancelled_invitation_is_refused(invites, answer):
    invites.cancel(invites.sent())
    # The mail was composed before.
    assert PlatformInvitation.objects.get().token_digest is None
    token = invites.mailed()
    invites.cancel(str(PlatformInvitation.objects.get(status="pending").pk))

    assert answer(token).error == NOT_PENDING


@pytest.mark.parametrize("first", ANSWERS)
def test_answered_invitation_is_refused(invites, answer, first):
    token = invites.mailed()
    assert getattr(invites, first)(token).status == 200

    assert answer(token).error == NOT_PENDING


def test_invitation_of_a_deleted_user_is_not_found(invites, answer):
    token = invites.mailed()
    the_user().delete()

    assert answer(token).error == NOT_FOUND


def test_accept_is_refused_while_the_sender_is_suspended(invites):
    token = invites.mailed()
    deactivate()

    assert invites.accept_as_new(token).error == NOT_PENDING
    assert users() == 1


def test_decline_answers_null_and_needs_no_account(invites):
    sent = invites.sent()

    declined = invites.decline(invites.read())

    assert (declined.status, declined.body) == (200, {"data": None})
    assert invites.status(sent) == "declined"
    assert users() == 1


@pytest.mark.parametrize("ended", ["expired", "declined", "cancelled", "accepted"])
def test_second_invitation_after_the_first_has_ended_works(api, invites, clock, ended):
    invites.token = api.log_in()["access_token"]
    first = invites.sent()
    token = invites.read()
    if ended == "expired":
        clock.forward(days=7)
        invites.token = api.log_in()["access_token"]
    elif ended == "cancelled":
        invites.cancel(first)
    else:
        {"declined": invites.decline, "accepted": invites.accept_as_new}[ended](token)

    again = invites.mailed()

    assert invites.accept_as_new(again).status == 200
    assert invites.status(first) == ended


@pytest.mark.parametrize("body", [{}, {"token": ""}, {"token": 7}, {"token": "x" * 513}])
@pytest.mark.parametrize("route", ["accept", "decline"])
def test_malformed_token_is_a_validation_error(api, route, body):
    answer = api.request("POST", f"invitations/{route}", body)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("token: ")


def test_unknown_tokens_count_as_attempts_of_the_network(clock, invites, configure):
    configure(THROTTLE={"RATES": {"guess": "3/h"}})
    token = invites.mailed(BOB)
    for _ in range(3):
        invites.decline("x" * 43)

    assert invites.decline("x" * 43).error == (429, "TOO_MANY_REQUESTS")
    assert invites.accept_as_new(token).status == 200
