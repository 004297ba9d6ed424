"""A host's own view with `AuthserviceAuthentication`, while the store is unavailable."""

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from authservice import channels
from authservice.kernel import errors
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugged
from tests.csrf.urls import Notes

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer(api, sessions):
    """Calls the view for a user who logged in before the store became unavailable."""
    token = api.sign_up()["access_token"]
    sessions(STORE="tests.session.stores.Broken")
    return lambda request: Notes.as_view()(request(token))


def by_header(token):
    return RequestFactory().get("/notes", headers={"Authorization": f"Bearer {token}"})


def by_cookie(token):
    request = RequestFactory().get("/notes")
    request.COOKIES["authservice_access"] = token
    return request


@pytest.mark.parametrize("request_of", [by_header, by_cookie])
def test_host_view_is_503_while_the_store_is_unavailable(answer, configure, request_of):
    configure(COOKIES={"ENABLED": True})
    with plugged("request_guard", RequestGuard()):
        assert answer(request_of).status_code == 503


def test_consumer_gets_an_error_and_no_user_while_the_store_is_unavailable(api, sessions):
    token = api.sign_up()["access_token"]
    headers = [(b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "websocket", "path": "/chat", "query_string": b"", "headers": headers}
    get_user = async_to_sync(channels.get_user)
    assert get_user(scope).is_authenticated

    sessions(STORE="tests.session.stores.Broken")

    with pytest.raises(errors.ServiceUnavailable):
        get_user(scope)
    assert isinstance(get_user({**scope, "headers": []}), AnonymousUser)
