"""What happens between reading a sign-in and moving it on: the row, not the read, decides."""

import pytest

from authservice.core.models import Session
from authservice.core.sessions import rotation as rules
from tests.client import PASSWORD
from tests.people import deactivate

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def meanwhile(monkeypatch):
    """Do something once, after the row was read and before it is moved on."""

    def meanwhile(deed):
        move, deeds = rules._moved, [deed]

        def moved(*args):
            while deeds:
                deeds.pop()()
            return move(*args)

        monkeypatch.setattr(rules, "_moved", moved)

    return meanwhile


@pytest.fixture
def tokens(api):
    return api.sign_up()


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def test_of_two_at_once_the_faster_one_wins(api, tokens, meanwhile):
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))

    answers.append(refresh(api, tokens))

    assert [answer.error for answer in answers] == [(200, ""), REFUSED]


def test_two_at_once_are_no_theft(api, tokens, meanwhile):
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))
    refresh(api, tokens)

    assert refresh(api, answers[0].data).status == 200


def test_within_the_grace_two_at_once_get_the_same_successor(api, tokens, meanwhile, configure):
    configure(REFRESH_GRACE=5)
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))

    answers.append(refresh(api, tokens))

    first, second = (answer.data["refresh_token"] for answer in answers)
    assert first == second


def test_two_steps_ahead_it_is_theft(api, tokens, meanwhile):
    answers = []

    def twice():
        answers.append(refresh(api, tokens))
        answers.append(refresh(api, answers[-1].data))

    meanwhile(twice)

    assert refresh(api, tokens).error == REFUSED
    assert refresh(api, answers[-1].data).error == REFUSED


def test_a_logout_meanwhile_wins(api, tokens, meanwhile):
    meanwhile(lambda: api.post("logout", token=tokens["access_token"]))

    assert refresh(api, tokens).error == REFUSED
    assert Session.objects.get().counter == 0


@pytest.mark.parametrize("moment", ["idle_expires_at", "expires_at"])
def test_an_expiry_meanwhile_wins(api, tokens, meanwhile, clock, moment):
    fresh = api.log_in()
    meanwhile(lambda: Session.objects.update(**{moment: Session.objects.first().created_at}))

    assert refresh(api, fresh).error == REFUSED


def test_a_deactivation_meanwhile_is_felt_by_what_was_issued(api, tokens, meanwhile):
    meanwhile(deactivate)

    issued = refresh(api, tokens).data

    assert api.get("me", token=issued["access_token"]).error == (401, "INVALID_TOKEN")


def test_a_password_changed_meanwhile_by_this_sign_in_does_not_end_it(api, tokens, meanwhile):
    def change():
        answer = api.request(
            "PUT",
            "change-password",
            {"old_password": PASSWORD, "new_password": "another plum tart 42"},
            token=tokens["access_token"],
        )
        assert answer.status == 200

    meanwhile(change)

    issued = refresh(api, tokens).data

    assert api.get("me", token=issued["access_token"]).status == 200


def test_a_hash_upgraded_meanwhile_does_not_end_it(api, tokens, meanwhile, settings):
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    meanwhile(api.log_in)

    issued = refresh(api, tokens).data

    assert api.get("me", token=issued["access_token"]).status == 200
