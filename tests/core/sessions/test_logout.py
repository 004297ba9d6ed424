"""Logging out ends one sign-in and only that one."""

import pytest

pytestmark = pytest.mark.django_db


def test_an_access_token_is_refused_from_the_next_request_on(api):
    token = api.sign_up()["access_token"]
    api.post("logout", token=token)

    answer = api.get("me", token=token)

    assert (answer.status, answer.code) == (401, "INVALID_TOKEN")


def test_its_refresh_token_is_dead(api):
    tokens = api.sign_up()
    api.post("logout", token=tokens["access_token"])

    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 401


def test_other_sign_ins_go_on(api):
    first = api.sign_up()["access_token"]
    second = api.log_in()["access_token"]

    api.post("logout", token=first)

    assert api.get("me", token=second).status == 200
