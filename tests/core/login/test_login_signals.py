"""Django's own signals of logins, which other installed packages receive."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError
from django.test import RequestFactory

from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def failures():
    received = []

    def receive(sender, credentials, **_):
        received.append((sender, sorted(credentials)))

    user_login_failed.connect(receive)
    yield received
    user_login_failed.disconnect(receive)


def test_failed_login_signal_has_the_sender_of_django(api, failures):
    api.post("login", email="nobody@example.com", password="x")
    authenticate(RequestFactory().post("/"), username="nobody", password="x")

    of_service, of_django = failures
    assert of_service[0] == of_django[0] == "django.contrib.auth"


@pytest.mark.parametrize("refusal", [IntegrityError, DataError, ValidationError])
@pytest.mark.django_db(transaction=True)
def test_rows_that_receivers_of_a_login_cannot_save_lock_nobody_out(api, refusal):
    api.sign_up("ann@example.com")

    def receive(**_):
        raise refusal("a row of the project")

    user_logged_in.connect(receive)
    try:
        tried = [api.post("login", email="ann@example.com", password=PASSWORD) for _ in range(11)]
    finally:
        user_logged_in.disconnect(receive)

    assert {answer.code for answer in tried} <= {"CONFLICT", "VALIDATION_ERROR"}
    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200
