"""Signals about the own account reach the receivers of the project."""

import pytest

from authservice import signals
from tests.core.own_account.owner import EVE, confirm
from tests.support.flows import ANN

pytestmark = pytest.mark.django_db


def test_changed_address_is_sent_with_both_addresses(api, requested, received):
    events = received(signals.email_changed)
    token = requested()
    assert events == []

    confirm(api, token)

    assert [event.metadata for event in events] == [{"email": {"before": ANN, "after": EVE}}]


def test_changed_username_is_sent_with_both_names(owner, received):
    before = owner.me()["username"]
    events = received(signals.username_changed)

    owner.rename("anna")
    owner.rename("anna")

    change = {"before": before, "after": "anna"}
    assert [event.metadata for event in events] == [{"username": change}]
