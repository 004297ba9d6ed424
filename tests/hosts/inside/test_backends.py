"""A backend of the host's own checks passwords as well as ours."""

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import PBKDF2PasswordHasher

pytestmark = pytest.mark.django_db


class Own(ModelBackend):
    """A backend of the host, by its type none of Django's."""


class Slow(PBKDF2PasswordHasher):
    iterations = 2


class Slower(PBKDF2PasswordHasher):
    iterations = 3


@pytest.fixture(autouse=True)
def _own(settings):
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.Own"]
    settings.PASSWORD_HASHERS = [f"{__name__}.Slow"]


def test_its_word_opens(api):
    api.sign_up()

    assert api.log_in()["user"]["email"] == "ann@example.com"


def test_a_better_hash_that_it_stores_ends_no_sign_in(api, settings):
    token = api.sign_up()["access_token"]
    settings.PASSWORD_HASHERS = [f"{__name__}.Slower"]

    api.log_in()

    assert api.get("me", token=token).status == 200
