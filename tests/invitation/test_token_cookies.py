"""Where tokens are in cookies, those of the recipient keep the session as a header does."""

import pytest

from authservice.csrf import guard as csrf
from authservice.kernel.http import envelope
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def _csrf(_invitations):
    with mounted("authservice.csrf"):
        yield


@pytest.fixture(autouse=True)
def _cookies(configure):
    configure(COOKIES={"ENABLED": True})


def accept(invites, token, tokens, *, pair):
    kept = [
        f"{envelope.cookie_name('authservice_access')}={tokens['access_token']}",
        f"{envelope.cookie_name('authservice_refresh')}={tokens['refresh_token']}",
        f"{envelope.cookie_name('__service_csrf')}={pair}",
    ]
    return invites.accept(token, headers={"Cookie": "; ".join(kept), "X-CSRF-Token": pair})


def test_session_of_the_cookie_stays_and_its_cookies_are_replaced(api, invites, bob):
    kept = {"Cookie": f"{envelope.cookie_name('authservice_access')}={bob['access_token']}"}
    pair = api.get("csrf-token", headers=kept).data["csrf_token"]
    token = invites.mailed()
    api.paired = False

    accepted = accept(invites, token, bob, pair=pair)

    assert accepted.status == 200
    assert accepted.response.cookies[envelope.cookie_name("authservice_refresh")].value
    api.paired = True
    assert api.post("refresh", refresh_token=bob["refresh_token"]).status == 401


def test_pair_that_is_not_bound_to_the_session_is_refused(api, invites, bob):
    token = invites.mailed()
    api.paired = False

    refused = accept(invites, token, bob, pair=csrf.issue())

    assert refused.error == (403, "INVALID_CSRF")
    api.paired = True
    assert invites.accept(token).status == 200


def test_accept_from_another_site_is_refused(api, invites, bob):
    token = invites.mailed()
    api.paired = False

    assert invites.accept(token).error == (403, "INVALID_CSRF")
