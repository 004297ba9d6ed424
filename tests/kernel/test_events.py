"""Recorded events: the values that listeners receive, and no cost without a listener."""

import pytest
from django.db import transaction

from authservice import signals
from authservice.kernel import events
from authservice.kernel.actions import ADMIN, SYSTEM, USER
from authservice.kernel.client import Client
from tests.support.slots import Listener


class Row:
    """Replaces an account, and counts how often its user is read."""

    def __init__(self):
        self.read = 0

    @property
    def user(self):
        self.read += 1
        return self


@pytest.fixture
def notified(monkeypatch):
    notified = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(notified.append),)
    )
    return notified


def test_event_is_not_built_without_a_listener(monkeypatch):
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: ())
    monkeypatch.setattr("authservice.kernel.events.Event", None)
    person = Row()

    events.record("auth.login.success", person, Client(), method="password")
    events.record_by_staff("admin.user.updated", person, person, Client())

    assert person.read == 0


def test_event_of_a_user_has_the_user_as_actor(notified):
    person = Row()

    events.record("auth.login.failed", person, Client(), reason="throttled", method="password")

    (event,) = notified
    assert (event.user, event.target, event.actor_type) == (person, None, USER)
    assert event.metadata == {"reason": "throttled", "method": "password"}


def test_event_with_an_unknown_identifier_has_no_actor(notified):
    events.record("auth.login.failed", None, Client(), reason="invalid_credentials")

    assert notified[0].user is None


@pytest.mark.parametrize(("by", "actor_type"), [(Row(), ADMIN), (None, SYSTEM)])
def test_event_of_staff_has_actor_and_target(notified, by, actor_type):
    target = Row()

    # A name of metadata may be the name of a parameter.
    events.record_by_staff("security.forbidden", by, target, Client(), action="admin.user.deleted")

    (event,) = notified
    assert (event.user, event.target, event.actor_type) == (by, target, actor_type)
    assert event.metadata == {"action": "admin.user.deleted"}


def test_event_with_an_unknown_action_raises_with_a_listener(notified):
    with pytest.raises(KeyError):
        events.record("auth.sign_up", None, Client())


@pytest.mark.django_db(transaction=True)
def test_signal_is_sent_after_the_commit_without_a_listener(monkeypatch, received):
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: ())
    sent = received(signals.signed_up)

    with transaction.atomic():
        events.record("auth.signup", None, Client())
        assert sent == []

    assert [event.action for event in sent] == ["auth.signup"]
