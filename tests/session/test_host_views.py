"""A view of the host's own, by `AuthserviceAuthentication`, while the store cannot be asked."""

import pytest
from django.test import RequestFactory

from authservice.kernel.modules import plugged
from tests.csrf.urls import Notes

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer(api, sessions):
    """What the view answers somebody who signed in before the store went away."""
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
def test_it_answers_503_and_lets_nobody_through(answer, configure, request_of):
    configure(COOKIES={"ENABLED": True})
    with plugged("request_guard", lambda *_: None):
        assert answer(request_of).status_code == 503
