"""Django's own signals of logins, which other installed packages receive."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_login_failed
from django.test import RequestFactory

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
