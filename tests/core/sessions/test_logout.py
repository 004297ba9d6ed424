"""Logging out ends one session and no other."""

import pytest

pytestmark = pytest.mark.django_db


def test_logout_revokes_the_access_token_at_once(api):
    token = api.sign_up()["access_token"]
    api.post("logout", token=token)

    answer = api.get("me", token=token)

    assert (answer.status, answer.code) == (401, "INVALID_TOKEN")


def test_logout_revokes_the_refresh_token(api):
    tokens = api.sign_up()
    api.post("logout", token=tokens["access_token"])

    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 401


def test_logout_keeps_other_sessions(api):
    first = api.sign_up()["access_token"]
    second = api.log_in()["access_token"]

    api.post("logout", token=first)

    assert api.get("me", token=second).status == 200
