"""A host's own tokens, made by its own views, and ours open each their own doors alone."""

import pytest
from django.conf import settings
from django.test import Client

from authservice.core.models import Session
from tests.client import PASSWORD
from tests.forging import claims

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        settings.ROOT_URLCONF != "tests.hosts.simplejwt.urls",
        reason="this host hands out no tokens of its own",
    ),
]
MINUTES = 60


class Host:
    """The host's own routes."""

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


def test_each_opens_its_own_door(api, host, ours, theirs):
    assert api.get("me", token=ours["access_token"]).status == 200
    assert host.mine(theirs["access"]) == 200


@pytest.mark.parametrize("kind", ["access", "refresh"])
def test_a_token_of_the_host_opens_nothing_here(api, theirs, kind):
    assert api.get("me", token=theirs[kind]).error == (401, "INVALID_TOKEN")
    assert api.post("logout", token=theirs[kind]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=theirs[kind]).code == "INVALID_REFRESH_TOKEN"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_token_of_ours_opens_nothing_of_the_hosts(host, ours, kind):
    assert host.mine(ours[kind]) == 401
    for path, field in [("refresh", "refresh"), ("verify", "token"), ("blacklist", "refresh")]:
        assert host.post(f"token/{path}", **{field: ours[kind]}).status_code == 401


def test_its_settings_have_no_say_in_ours(ours):
    said = claims(ours["access_token"])

    assert ours["expires_in"] == 15 * MINUTES
    assert said["exp"] - said["iat"] == 15 * MINUTES
    assert said["typ"] == "access"
    assert "hash_password" not in said


def test_its_login_makes_no_sign_in_of_ours(theirs):
    assert Session.objects.count() == 1  # of the sign-up


def test_what_the_host_ends_of_its_own_ends_nothing_of_ours(api, host, ours, theirs):
    assert host.post("token/blacklist", refresh=theirs["refresh"]).status_code == 200

    assert api.get("me", token=ours["access_token"]).status == 200


def test_what_ends_here_ends_nothing_of_the_hosts(api, host, ours, theirs):
    api.post("logout", token=ours["access_token"])

    assert host.mine(theirs["access"]) == 200
