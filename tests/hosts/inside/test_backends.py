"""An authentication backend of the host checks passwords."""

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import PBKDF2PasswordHasher

pytestmark = pytest.mark.django_db


class Own(ModelBackend):
    """A backend of the host: a subclass, so not recognized as the backend of Django."""


class Slow(PBKDF2PasswordHasher):
    iterations = 2


class Slower(PBKDF2PasswordHasher):
    iterations = 3


@pytest.fixture(autouse=True)
def _own(settings):
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.Own"]
    settings.PASSWORD_HASHERS = [f"{__name__}.Slow"]


def test_login_with_backend_of_the_host_succeeds(api):
    api.sign_up()

    assert api.log_in()["user"]["email"] == "ann@example.com"


def test_hash_upgrade_by_backend_of_the_host_keeps_sessions(api, settings):
    token = api.sign_up()["access_token"]
    settings.PASSWORD_HASHERS = [f"{__name__}.Slower"]

    api.log_in()

    assert api.get("me", token=token).status == 200
