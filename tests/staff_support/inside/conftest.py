from datetime import timedelta

import pytest
from django.apps import apps
from django.test import TestCase
from django.urls import reverse
from django.utils import timezone

from authservice.core.models import Account, Session
from authservice.core.users import lookup
from tests.admin.inside.conftest import Browser, staff
from tests.support.client import Api
from tests.support.messenger.post import receiving_jobs
from tests.support.people import the_user

# These tests need a host with every module: `test_staff_support.py` one folder above runs them.
collect_ignore_glob = [] if apps.is_installed("authservice.audit") else ["test_*.py"]

ANN = "ann@example.com"
VIEWS = ("view_account", "view_session", "view_authenticator", "view_entry", "view_membership")


class CommittingApi(Api):
    """Each request runs its on-commit callbacks, and comes from `address`."""

    address = "127.0.0.1"

    def request(self, *args, **options):
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*args, REMOTE_ADDR=self.address, **options)


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post():
    """The messenger that receives the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def ann(api):
    """The tokens of a user after sign-up."""
    return api.sign_up(ANN)


@pytest.fixture
def root():
    return Browser(staff("root@example.com", superuser=True))


@pytest.fixture
def helper():
    """`helper("view_account")` is a member of staff with these permissions only."""
    return lambda *permissions: Browser(staff("helper@example.com", *permissions))


def account(email=ANN):
    return Account.objects.get(email=email)


def person(email=ANN):
    return lookup.get_person(the_user(email))


def support_page(email=ANN):
    return reverse("admin:authservice_core_account_support", args=[account(email).pk])


def more_sessions(number, email=ANN):
    """Further sessions of a user, made as copies of the first one."""
    first = Session.objects.filter(user=the_user(email)).earliest("pk")
    values = {f.attname: getattr(first, f.attname) for f in Session._meta.concrete_fields}
    del values["id"]
    started = timezone.now() - timedelta(minutes=1)
    Session.objects.bulk_create(Session(**{**values, "created_at": started}) for _ in range(number))


def lock_out(api, email=ANN):
    """Send wrong passwords until the account is locked."""
    api.address = "203.0.113.7"
    for _ in range(11):
        answer = api.post("login", email=email, password="wrong")
    assert answer.status == 429
    api.address = CommittingApi.address
