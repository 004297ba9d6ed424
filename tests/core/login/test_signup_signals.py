"""Which signals a sign-up sends: the reference of the signals says so."""

import pytest
from django.contrib.auth.signals import user_logged_in

from authservice import signals
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent():
    """The names of the signals that were sent, in order."""
    names, receivers = [], []
    watched = {
        "signed_up": signals.signed_up,
        "logged_in": signals.logged_in,
        "user_logged_in": user_logged_in,
    }
    for name, signal in watched.items():

        def note(sender, name=name, **_):
            names.append(name)

        receivers.append((signal, note))
        signal.connect(note)
    yield names
    for signal, note in receivers:
        signal.disconnect(note)


def test_signup_sends_user_logged_in_of_django_but_not_logged_in(api, sent):
    assert api.post("signup", email="ann@example.com", password=PASSWORD).status == 201

    assert sorted(sent) == ["signed_up", "user_logged_in"]
