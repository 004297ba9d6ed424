"""Tokens of the host (by simplejwt) and of authservice are valid for their own routes only."""

import pytest
from django.conf import settings
from django.test import Client

from authservice.core.models import Session
from tests.support.client import PASSWORD
from tests.support.forging import claims

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        settings.ROOT_URLCONF != "tests.hosts.simplejwt.urls",
        reason="this host issues no tokens of its own",
    ),
]
MINUTES = 60


class Host:
    """Requests to the routes of the host."""

    def post(self, path, **body):
        return Client().post(f"/{path}/", body, content_type="application/json")

    def mine(self, token):
        return Client().get("/mine/", headers={"Authorization": f"Bearer {token}"}).status_code


@pytest.fixture
def host():
    return Host()


@pytest.fixture
def ours(api):
    return api.sign_up(username="ann")


@pytest.fixture
def theirs(host, ours):
    answer = host.post("token", username="ann", password=PASSWORD)
    assert answer.status_code == 200
    return answer.json()


def test_each_token_is_valid_for_its_own_routes(api, host, ours, theirs):
    assert api.get("me", token=ours["access_token"]).status == 200
    assert host.mine(theirs["access"]) == 200


@pytest.mark.parametrize("kind", ["access", "refresh"])
def test_token_of_the_host_is_refused_by_authservice(api, theirs, kind):
    assert api.get("me", token=theirs[kind]).error == (401, "INVALID_TOKEN")
    assert api.post("logout", token=theirs[kind]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=theirs[kind]).code == "INVALID_REFRESH_TOKEN"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_token_of_authservice_is_refused_by_the_host(host, ours, kind):
    assert host.mine(ours[kind]) == 401
    for path, field in [("refresh", "refresh"), ("verify", "token"), ("blacklist", "refresh")]:
        assert host.post(f"token/{path}", **{field: ours[kind]}).status_code == 401


def test_simplejwt_settings_do_not_change_tokens_of_authservice(ours):
    payload = claims(ours["access_token"])

    assert ours["expires_in"] == 15 * MINUTES
    assert payload["exp"] - payload["iat"] == 15 * MINUTES
    assert payload["typ"] == "access"
    assert "hash_password" not in payload


def test_simplejwt_login_creates_no_session_of_authservice(theirs):
    assert Session.objects.count() == 1  # the session of the sign-up


def test_simplejwt_blacklist_keeps_tokens_of_authservice(api, host, ours, theirs):
    assert host.post("token/blacklist", refresh=theirs["refresh"]).status_code == 200

    assert api.get("me", token=ours["access_token"]).status == 200


def test_logout_of_authservice_keeps_tokens_of_the_host(api, host, ours, theirs):
    api.post("logout", token=ours["access_token"])

    assert host.mine(theirs["access"]) == 200
