"""A host's own view with `AuthserviceAuthentication`, while the store is unavailable."""

import pytest
from django.test import RequestFactory

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
    with plugged("request_guard", lambda *_: None):
        assert answer(request_of).status_code == 503
