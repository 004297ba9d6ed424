"""Events of magic links: every action is recorded once, every refusal too."""

import pytest

from tests.magiclink.magic import ANN
from tests.support.flows import PHONE, wrong
from tests.support.people import the_user
from tests.support.slots import Listener

pytestmark = pytest.mark.django_db


@pytest.fixture
def events(monkeypatch):
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),) if slot else ()
    )
    return recorded


def actions(events):
    return [event.action for event in events]


def test_requested_email_is_recorded_by_the_worker(magic, ann, events):
    magic.ask(X_Request_ID="trace-1")
    assert events == []

    magic.message()

    [event] = events
    assert (event.action, event.user, event.client.request_id) == (
        "auth.magiclink.sent",
        the_user(),
        "trace-1",
    )


def test_request_for_an_unknown_address_is_not_recorded(magic, ann, events):
    magic.ask("nobody@example.com")
    magic.message()

    assert events == []


@pytest.mark.parametrize("way", ["link", "code"])
def test_login_is_recorded_with_its_method(magic, ann, events, way):
    pair = magic.mailed()
    events.clear()
    if way == "link":
        magic.follow(pair.token)
    else:
        magic.type(pair.code)

    [event] = [event for event in events if event.action == "auth.login.success"]
    assert event.metadata == {"method": "magic-link"}


def test_first_verification_is_recorded_beside_the_login(magic, api, events):
    api.sign_up(phone_number=PHONE)
    pair = magic.mailed()
    events.clear()
    magic.follow(pair.token)

    assert actions(events) == [
        "security.session.revoked",
        "user.phone.changed",
        "user.email.verified",
        "security.new_device",
        "auth.login.success",
    ]


def test_new_user_is_recorded_as_a_sign_up(magic, magiclink, events):
    magiclink(AUTO_REGISTER=True)
    pair = magic.mailed()
    assert actions(events) == ["auth.signup", "auth.magiclink.sent"]

    events.clear()
    magic.follow(pair.token)

    assert actions(events) == ["user.email.verified", "auth.login.success"]


def failures(events):
    return [
        (event.user, event.severity, event.metadata["reason"], event.metadata["method"])
        for event in events
        if event.action == "auth.login.failed"
    ]


def test_wrong_code_is_recorded_for_its_user(magic, ann, events):
    pair = magic.mailed()
    events.clear()
    magic.type(wrong(pair.code))

    assert failures(events) == [(the_user(), "warning", "invalid_verification_code", "magic-link")]


def test_code_for_an_unknown_address_is_recorded_without_a_user(magic, ann, events):
    magic.type("123456", "nobody@example.com")

    assert failures(events) == [(None, "warning", "invalid_verification_code", "magic-link")]


def test_link_of_no_user_is_not_recorded(magic, ann, events):
    magic.follow("A" * 43)

    assert failures(events) == []


def test_used_link_is_recorded_for_its_user(magic, ann, events):
    pair = magic.mailed()
    magic.follow(pair.token)
    events.clear()
    magic.follow(pair.token)

    assert failures(events) == [(the_user(), "warning", "invalid_token", "magic-link")]


def test_failing_listener_leaves_the_email_unsent(magic, ann, monkeypatch):
    def refuse(event):
        raise RuntimeError

    magic.ask()
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(refuse),))

    with pytest.raises(RuntimeError):
        magic.message()


def test_events_contain_no_secret(magic, ann, events):
    pair = magic.mailed(ANN)
    magic.type(wrong(pair.code))
    magic.follow(pair.token)

    recorded = repr([event.metadata for event in events])
    assert pair.token not in recorded
    assert pair.code not in recorded
