"""A WebSocket of a user who signed in on the pages, with the session middleware of Channels."""

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from authservice.channels import get_user
from authservice.core.models import Session
from authservice.core.sessions import revocation

pytestmark = pytest.mark.django_db

OWN = "http://testserver"


def name_of(session, origin=OWN, **headers):
    """The user of a socket, as the scope of Channels describes it; nobody is ""."""
    given = {"host": "testserver", "origin": origin, **headers}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": "websocket", "path": "/prices", "scheme": "ws", "headers": pairs}
    return async_to_sync(get_user)({**scope, "session": session}).get_username()


def test_user_of_the_pages_is_known(signed_in):
    assert name_of(signed_in.client.session) == "ann"
    assert name_of(Client().session) == ""


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_session_counts_only_from_an_origin_that_is_trusted(origin, signed_in):
    assert name_of(signed_in.client.session, origin=origin) == ""


def test_session_that_has_ended_is_nobody_at_the_next_message(signed_in):
    opened = signed_in.client.session
    assert name_of(opened) == "ann"

    revocation.revoke_one(Session.objects.latest("created_at"))

    assert name_of(opened) == ""


def test_bearer_token_comes_first(signed_in, api):
    bob = api.sign_up("bob@example.com")["access_token"]

    assert name_of(signed_in.client.session, authorization=f"Bearer {bob}") == "bob"
    assert name_of(signed_in.client.session, authorization="Bearer x") == ""
