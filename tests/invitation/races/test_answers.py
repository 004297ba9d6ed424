"""Of concurrent answers to one invitation exactly one succeeds, and nothing is left of the others.

Requests of a crowd commit by themselves; jobs are queued after the commit.
"""

from functools import partial

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account, Session
from authservice.invitation.models import PlatformInvitation
from tests.admin_api.people import promote
from tests.races.crowd import SIZE, tally
from tests.support.flows import prove
from tests.support.people import the_user

FEW = 8
NOT_PENDING, NOT_FOUND = "INVITATION_NOT_PENDING", "INVITATION_NOT_FOUND"


def sessions_of(email):
    return Session.objects.filter(user__authservice_account__email=email, ended_at=None).count()


def test_new_user_accepts_concurrently_once(crowd, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        token = ann.mailed(email)

        answers = crowd.all_do(partial(ann.accept_as_new, token))

        assert tally(answers) == {200: 1, NOT_PENDING: SIZE - 1}
        assert Account.objects.filter(email=email).count() == 1
        assert sessions_of(email) == 1


@pytest.mark.parametrize("proven", [True, False])
def test_user_with_an_account_accepts_concurrently_once(crowd, api, sender, rounds, proven):
    for number in rounds:
        ann, email = sender(number), f"bob{number}@example.com"
        api.sign_up(email)
        if proven:
            prove(email)
        token = ann.mailed(email)
        before = sessions_of(email)

        answers = crowd.race([partial(ann.accept, token)] * FEW)

        assert tally(answers) == {200: 1, NOT_PENDING: FEW - 1}
        # The session of the sign-up ends with the first proof.
        assert sessions_of(email) == (before if proven else 0) + 1


def test_signed_in_user_accepts_concurrently_once(crowd, api, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"bob{number}@example.com"
        bearer = api.sign_up(email)["access_token"]
        token = ann.mailed(email)

        answers = crowd.race([partial(ann.accept, token, bearer=bearer)] * FEW)

        assert tally(answers) == {200: 1, NOT_PENDING: FEW - 1}
        [accepted] = [answer.data for answer in answers if answer.status == 200]
        assert sessions_of(email) == 1
        assert api.post("refresh", refresh_token=accepted["refresh_token"]).status == 200


def test_accept_beside_a_refresh_of_the_session_leaves_it_valid(crowd, api, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"bob{number}@example.com"
        bob = api.sign_up(email)
        token = ann.mailed(email)
        refresh = partial(api.post, "refresh", refresh_token=bob["refresh_token"])

        accepted, refreshed = crowd.race(
            [partial(ann.accept, token, bearer=bob["access_token"]), refresh]
        )

        assert accepted.status == 200
        assert refreshed.status == 200
        assert sessions_of(email) == 1
        # The accept replaces no token, so that of the refresh is the current one.
        assert api.post("refresh", refresh_token=refreshed.data["refresh_token"]).status == 200


def test_sign_up_beside_an_accept_leaves_one_account(crowd, api, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        token = ann.mailed(email)
        sign_up = partial(api.post, "signup", email=email, password="plum tart 42 windows")

        accepted, signed_up = crowd.race([partial(ann.accept_as_new, token), sign_up])

        assert accepted.status == 200
        assert signed_up.status == 201 or signed_up.code == "USER_ALREADY_EXISTS"
        assert Account.objects.filter(email=email).count() == 1


@pytest.mark.parametrize("other", ["cancel", "decline"])
def test_accept_beside_another_end_has_one_winner(crowd, sender, rounds, other):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        sent = ann.sent(email)
        token = ann.read()
        end = partial(ann.cancel, sent) if other == "cancel" else partial(ann.decline, token)

        answers = crowd.race([partial(ann.accept_as_new, token), end])

        assert tally(answers) == {200: 1, NOT_PENDING: 1}
        accepted = PlatformInvitation.objects.get(pk=sent).status == "accepted"
        assert (answers[0].status == 200) == accepted
        assert Account.objects.filter(email=email).exists() == accepted


def test_accept_beside_a_resend_leaves_one_of_both(crowd, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        sent = ann.sent(email)
        token = ann.read()

        accepted, resent = crowd.race(
            [partial(ann.accept_as_new, token), partial(ann.resend, sent)]
        )

        outcome = (accepted.status, resent.status)
        assert outcome in {(200, 400), (404, 200)}
        assert Account.objects.filter(email=email).exists() == (accepted.status == 200)


def test_accept_beside_the_deletion_of_the_invited_user(crowd, api, sender, rounds):
    root = sender(0, "root").token
    promote("root0@example.com")
    for number in rounds:
        ann, email = sender(number), f"bob{number}@example.com"
        bob = api.sign_up(email)["user"]["id"]
        prove(email)
        token = ann.mailed(email)
        delete = partial(api.request, "DELETE", f"admin/users/{bob}", token=root)

        accepted, deleted = crowd.race([partial(ann.accept, token), delete])

        assert deleted.status == 200
        # Without the account, a name and a password are required.
        assert accepted.status == 200 or accepted.code == "VALIDATION_ERROR"
        assert not Account.objects.filter(email=email).exists()
        assert sessions_of(email) == 0


def test_accept_beside_the_deletion_of_the_sender(crowd, api, sender, rounds):
    root = sender(0, "root").token
    promote("root0@example.com")
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        token = ann.mailed(email)
        pk = the_user(f"ann{number}@example.com").pk
        delete = partial(api.request, "DELETE", f"admin/users/{pk}", token=root)

        accepted, deleted = crowd.race([partial(ann.accept_as_new, token), delete])

        assert deleted.status == 200
        assert accepted.status == 200 or accepted.code in (NOT_FOUND, NOT_PENDING)
        assert Account.objects.filter(email=email).exists() == (accepted.status == 200)
        assert not get_user_model().objects.filter(pk=pk).exists()
        assert not PlatformInvitation.objects.filter(email=email).exists()
