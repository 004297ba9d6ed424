"""Django's own signals of logins, as packages of a host know them."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_login_failed
from django.test import RequestFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def failures():
    heard = []

    def receive(sender, credentials, **_):
        heard.append((sender, sorted(credentials)))

    user_login_failed.connect(receive)
    yield heard
    user_login_failed.disconnect(receive)


def test_failed_login_is_sent_by_the_sender_of_django(api, failures):
    api.post("login", email="nobody@example.com", password="x")
    authenticate(RequestFactory().post("/"), username="nobody", password="x")

    ours, of_django = failures
    assert ours[0] == of_django[0] == "django.contrib.auth"
