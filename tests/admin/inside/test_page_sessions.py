"""A session that a sign-in page began, in Django admin: with the factor that admin requires."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from authservice.core.models import Session
from authservice.core.sessions import revocation
from tests.admin.inside.browsers import ROOT, is_open
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.mounted import mounted
from tests.support.people import make_user
from tests.twofactor import people

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _pages(settings):
    settings.MIDDLEWARE = [
        *settings.MIDDLEWARE,
        "authservice.middleware.AuthserviceMiddleware",
    ]
    with mounted("authservice.pages"):
        yield


@pytest.fixture
def root(api):
    return make_user(ROOT, is_staff=True, is_superuser=True)


@pytest.fixture
def person():
    person = Person()
    person.client = Client()
    return person


def test_page_signs_in_for_admin(person, root):
    person.sign_in(ROOT, PASSWORD)
    assert is_open(person.client)

    revocation.revoke_one(Session.objects.get())

    assert not is_open(person.client)


def test_page_of_admin_ends_with_all_sessions(person, root):
    revocation.revoke_users([root])  # the versions are not the first ones any more
    person.sign_in(ROOT, PASSWORD)
    assert is_open(person.client)

    revocation.revoke_users([root])

    assert not is_open(person.client)


def test_remembered_device_opens_pages_but_not_admin(person, root, api, configure):
    configure(TWOFACTOR={"REMEMBER_TTL": timedelta(days=30)})
    token = api.log_in(ROOT)["access_token"]
    factor = people.Person(api, email=ROOT, token=token, user_id=str(root.pk)).enrol()
    page = person.sign_in(ROOT, PASSWORD)
    person.send(page, code=factor.code(1), remember_device="on")
    assert is_open(person.client)
    person.send(person.open("/auth/logout"))

    landed = person.sign_in(ROOT, PASSWORD)

    assert landed.heading == "Profile"
    assert not is_open(person.client)


def test_factor_that_is_required_is_asked_for(person, root, configure):
    person.sign_in(ROOT, PASSWORD)
    configure(TWOFACTOR={"REQUIRED": "super_admins"})

    assert not is_open(person.client)


def test_staff_of_whom_a_factor_is_required_set_it_up_on_the_pages(person, configure):
    make_user("support@example.com", is_staff=True)
    person.sign_in("support@example.com", PASSWORD)
    assert is_open(person.client)

    configure(TWOFACTOR={"REQUIRED": "staff"})
    assert not is_open(person.client)
    person.client = Client()
    page = person.sign_in("support@example.com", PASSWORD)

    assert page.heading == "Set up two-factor authentication"
    secret = re.search(r"<code>([A-Z2-7]{16,})</code>", page.html)[1]
    person.send(page, code=people.app_of(f"otpauth://totp/x?secret={secret}").now())
    assert is_open(person.client)


def test_logout_of_admin_ends_the_row(person, root):
    person.sign_in(ROOT, PASSWORD)

    person.client.post("/admin/logout/")

    assert Session.objects.get().end_reason == "logout"
    assert person.open("/auth/account").heading == "Sign in"
