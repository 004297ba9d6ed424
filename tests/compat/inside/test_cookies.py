"""A refresh token that the old package keeps in a cookie is traded too."""

import pytest
from django.db import OperationalError

from authservice.core.login import foreign_tokens
from authservice.core.models import Session
from authservice.kernel import errors, modules
from authservice.kernel.interfaces import RequestGuard
from tests.support.client import Api

pytestmark = pytest.mark.django_db

OLD = "old-refresh"


@pytest.fixture
def guarded():
    """A guard against forged requests, which refuses those with the header `X-Forged`."""

    class Guard(RequestGuard):
        faults = (errors.InvalidCsrf,)

        def check(self, request, session_id, *, bearer):
            if "HTTP_X_FORGED" in request.META:
                raise errors.InvalidCsrf

    with modules.plugged("request_guard", Guard()):
        yield


@pytest.fixture
def token(ann, before, trades, configure, settings):
    simplejwt = {**settings.AUTHSERVICE["SIMPLEJWT"], "TRADE_COOKIE": OLD}
    configure(SIMPLEJWT=simplejwt, COOKIES={"ENABLED": True})
    return before.obtain().body["refresh"]


def refresh(api, cookie, **headers):
    return api.post("refresh", headers={"Cookie": f"{OLD}={cookie}", **headers})


def test_cookie_is_traded_for_our_cookies(api, guarded, token):
    answer = refresh(api, token)

    assert answer.status == 200
    assert {"authservice_access", "authservice_refresh"} <= set(answer.response.cookies)
    assert api.get("me", token=answer.data["access_token"]).status == 200


def test_cookie_is_deleted_once_it_is_traded(api, guarded, token):
    cookie = refresh(api, token).response.cookies[OLD]

    assert (cookie.value, cookie["max-age"]) == ("", 0)


def test_cookie_is_deleted_if_the_token_is_refused(api, guarded, token, before):
    before.blacklist(token)
    answer = refresh(api, token)

    assert answer.code == "INVALID_REFRESH_TOKEN"
    assert answer.response.cookies[OLD]["max-age"] == 0


@pytest.mark.parametrize("error", [OperationalError("gone"), RuntimeError("a fault")], ids=repr)
def test_cookie_stays_if_the_trade_fails(api, guarded, token, monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(foreign_tokens, "continue_session", fails)
        failed = refresh(Api(raising=False), token)

    assert failed.status >= 500
    assert OLD not in failed.response.cookies
    assert refresh(api, token).status == 200


def test_cookie_stays_if_there_were_too_many_requests(
    api, clock, guarded, token, configure, settings
):
    configure(**settings.AUTHSERVICE, THROTTLE={"RATES": {"refresh": "1/d"}})
    assert api.post("refresh", refresh_token=token).status == 200
    answer = refresh(api, token)

    assert answer.code == "TOO_MANY_REQUESTS"
    assert OLD not in answer.response.cookies


def test_cookie_of_a_forged_request_is_not_traded(api, guarded, token):
    assert refresh(api, token, **{"X-Forged": "1"}).code == "INVALID_CSRF"
    assert not Session.objects.exists()


def test_cookie_is_ignored_where_no_guard_is_installed(api, token):
    assert refresh(api, token).status == 400


def test_cookie_is_ignored_unless_the_setting_names_it(api, guarded, token, configure, settings):
    configure(SIMPLEJWT={**settings.AUTHSERVICE["SIMPLEJWT"], "TRADE_COOKIE": ""})

    assert refresh(api, token).status == 400


def test_token_in_the_body_takes_precedence(api, guarded, token):
    answer = api.post("refresh", refresh_token="nothing", headers={"Cookie": f"{OLD}={token}"})

    assert answer.code == "INVALID_REFRESH_TOKEN"
    assert not Session.objects.exists()


def test_our_own_cookie_takes_precedence(api, guarded, token):
    ours = refresh(api, token).response.cookies["authservice_refresh"].value
    cookies = f"{OLD}={token}; authservice_refresh={ours}"

    answer = api.post("refresh", headers={"Cookie": cookies})

    assert answer.status == 200
    assert Session.objects.get().counter == 1
