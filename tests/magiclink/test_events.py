"""What is told of magic links: each deed once, each refusal although it is one."""

import pytest

from tests.magiclink.magic import ANN
from tests.people import the_user
from tests.recovery.flows import PHONE, wrong

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch):
    heard = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (heard.append,) if slot else ()
    )
    return heard


def actions(told):
    return [event.action for event in told]


def test_a_mail_that_was_asked_for_is_told_by_the_worker(magic, ann, told):
    magic.ask(X_Request_ID="trace-1")
    assert told == []

    magic.letter()

    [event] = told
    assert (event.action, event.user, event.client.request_id) == (
        "auth.magiclink.sent",
        the_user(),
        "trace-1",
    )


def test_nothing_is_told_of_an_address_that_nobody_has(magic, ann, told):
    magic.ask("nobody@example.com")
    magic.letter()

    assert told == []


@pytest.mark.parametrize("road", ["link", "code"])
def test_a_sign_in_is_told_with_its_road(magic, ann, told, road):
    pair = magic.mailed()
    told.clear()
    if road == "link":
        magic.follow(pair.token)
    else:
        magic.type(pair.code)

    [event] = [event for event in told if event.action == "auth.login.success"]
    assert event.metadata == {"method": "magic-link"}


def test_the_first_proof_is_told_beside_the_sign_in(magic, api, told):
    api.sign_up(phone_number=PHONE)
    pair = magic.mailed()
    told.clear()
    magic.follow(pair.token)

    assert actions(told) == [
        "security.session.revoked",
        "user.phone.changed",
        "user.email.verified",
        "security.new_device",
        "auth.login.success",
    ]


def test_somebody_new_is_told_as_a_sign_up(magic, magiclink, told):
    magiclink(AUTO_REGISTER=True)
    pair = magic.mailed()
    assert actions(told) == ["auth.signup", "auth.magiclink.sent"]

    told.clear()
    magic.follow(pair.token)

    assert actions(told) == ["user.email.verified", "auth.login.success"]


def failures(told):
    return [
        (event.user, event.severity, event.metadata["reason"], event.metadata["method"])
        for event in told
        if event.action == "auth.login.failed"
    ]


def test_a_wrong_code_is_told_of_whom_it_was_meant_for(magic, ann, told):
    pair = magic.mailed()
    told.clear()
    magic.type(wrong(pair.code))

    assert failures(told) == [(the_user(), "warning", "invalid_verification_code", "magic-link")]


def test_a_code_for_nobody_is_told_of_nobody(magic, ann, told):
    magic.type("123456", "nobody@example.com")

    assert failures(told) == [(None, "warning", "invalid_verification_code", "magic-link")]


def test_link_that_names_nobody_is_not_recorded(magic, ann, told):
    magic.follow("A" * 43)

    assert failures(told) == []


def test_a_used_link_is_told_of_its_owner(magic, ann, told):
    pair = magic.mailed()
    magic.follow(pair.token)
    told.clear()
    magic.follow(pair.token)

    assert failures(told) == [(the_user(), "warning", "invalid_token", "magic-link")]


def test_a_listener_that_fails_leaves_the_mail_unsent(magic, ann, monkeypatch):
    def refuse(event):
        raise RuntimeError

    magic.ask()
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (refuse,))

    with pytest.raises(RuntimeError):
        magic.letter()


def test_no_secret_is_told(magic, ann, told):
    pair = magic.mailed(ANN)
    magic.type(wrong(pair.code))
    magic.follow(pair.token)

    kept = repr([event.metadata for event in told])
    assert pair.token not in kept
    assert pair.code not in kept
