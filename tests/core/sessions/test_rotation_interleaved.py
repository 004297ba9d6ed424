"""Changes between the read and the update of a session: the row decides, not the read."""

import pytest

from authservice.core.models import Session
from authservice.core.sessions import rotation as rules
from tests.support.client import PASSWORD
from tests.support.people import deactivate

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def meanwhile(monkeypatch):
    """Run an action once, after the row was read and before it is updated."""

    def meanwhile(action):
        rotate, actions = rules._rotated, [action]

        def rotated(*args):
            while actions:
                actions.pop()()
            return rotate(*args)

        monkeypatch.setattr(rules, "_rotated", rotated)

    return meanwhile


@pytest.fixture
def tokens(api):
    return api.sign_up()


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def test_refresh_twice_at_once_succeeds_for_the_first_only(api, tokens, meanwhile):
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))

    answers.append(refresh(api, tokens))

    assert [answer.error for answer in answers] == [(200, ""), REFUSED]


def test_refresh_twice_at_once_keeps_session(api, tokens, meanwhile):
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))
    refresh(api, tokens)

    assert refresh(api, answers[0].data).status == 200


def test_refresh_twice_at_once_within_grace_returns_the_same_successor(
    api, tokens, meanwhile, configure
):
    configure(REFRESH_GRACE=5)
    answers = []
    meanwhile(lambda: answers.append(refresh(api, tokens)))

    answers.append(refresh(api, tokens))

    first, second = (answer.data["refresh_token"] for answer in answers)
    assert first == second


def test_refresh_two_rotations_behind_revokes_session(api, tokens, meanwhile):
    answers = []

    def twice():
        answers.append(refresh(api, tokens))
        answers.append(refresh(api, answers[-1].data))

    meanwhile(twice)

    assert refresh(api, tokens).error == REFUSED
    assert refresh(api, answers[-1].data).error == REFUSED


def test_refresh_is_refused_after_a_logout_meanwhile(api, tokens, meanwhile):
    meanwhile(lambda: api.post("logout", token=tokens["access_token"]))

    assert refresh(api, tokens).error == REFUSED
    assert Session.objects.get().counter == 0


@pytest.mark.parametrize("moment", ["idle_expires_at", "expires_at"])
def test_refresh_is_refused_after_an_expiry_meanwhile(api, tokens, meanwhile, clock, moment):
    fresh = api.log_in()
    meanwhile(lambda: Session.objects.update(**{moment: Session.objects.first().created_at}))

    assert refresh(api, fresh).error == REFUSED


def test_refresh_during_a_deactivation_issues_an_invalid_token(api, tokens, meanwhile):
    meanwhile(deactivate)

    issued = refresh(api, tokens).data

    assert api.get("me", token=issued["access_token"]).error == (401, "INVALID_TOKEN")


def test_refresh_during_a_password_change_by_its_session_issues_a_valid_token(
    api, tokens, meanwhile
):
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


def test_refresh_during_a_hash_upgrade_issues_a_valid_token(api, tokens, meanwhile, settings):
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    meanwhile(api.log_in)

    issued = refresh(api, tokens).data

    assert api.get("me", token=issued["access_token"]).status == 200
