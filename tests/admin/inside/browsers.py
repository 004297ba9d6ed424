"""Browsers with a session of Django admin."""

from django.db.models import F
from django.test import Client

from authservice.core.models import Account
from tests.support.client import PASSWORD
from tests.support.people import the_user

ROOT, BOSS = "root@example.com", "boss@example.com"


def logged_in(user):
    client = Client()
    form = {"username": user.get_username(), "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", form).url == "/admin/"
    assert is_open(client)
    return client


def is_open(client, page="/admin/"):
    answer = client.get(page)
    if answer.status_code == 200:
        return True
    assert answer.url.startswith(("/admin/login/", "/guarded/login/"))
    return False


def raise_version(name="token_version", by=1):
    Account.objects.filter(user=the_user(ROOT)).update(**{name: F(name) + by})


def without_versions(user):
    """A client with a session from before the upgrade."""
    client = logged_in(user)
    session = client.session
    session.pop("_authservice_versions", None)
    session.save()
    return client
