"""The host may use simplejwt: neither side accepts the tokens of the other."""

import pytest
from django.test import RequestFactory
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.exceptions import InvalidToken
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, SlidingToken

from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", [AccessToken, RefreshToken, SlidingToken])
def test_simplejwt_token_of_the_host_is_refused(api, kind):
    token = str(kind.for_user(make_user()))

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_simplejwt_refresh_token_of_the_host_is_refused(api):
    token = str(RefreshToken.for_user(make_user()))

    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_simplejwt_of_the_host_refuses_an_access_token(api):
    token = api.sign_up()["access_token"]
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {token}"})

    with pytest.raises(InvalidToken):
        JWTAuthentication().authenticate(request)


def test_simplejwt_of_the_host_refuses_a_refresh_token(api):
    token = api.sign_up()["refresh_token"]
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {token}"})

    with pytest.raises(InvalidToken):
        JWTAuthentication().authenticate(request)
