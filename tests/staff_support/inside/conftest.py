from datetime import timedelta
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import TestCase
from django.urls import reverse
from django.utils import timezone

from authservice.core.models import Account, AttemptCounter, Session
from authservice.core.staff import support_actions
from authservice.core.users import lookup
from authservice.twofactor.models import Authenticator
from tests.admin.inside.conftest import Browser, staff
from tests.support.client import Api
from tests.support.messenger.post import receiving_jobs
from tests.support.people import the_user
from tests.twofactor.people import Person

# These tests need a host with every module: `test_staff_support.py` one folder above runs them.
collect_ignore_glob = [] if apps.is_installed("authservice.audit") else ["test_*.py"]

ANN = "ann@example.com"
NAMES = [button.name for button in support_actions.buttons()]


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


@pytest.fixture(autouse=True)
def _still(clock):
    """It is 12:00 UTC, on a clock that only tests move."""


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


@pytest.fixture
def member(ann):
    """A browser of a member of the group "Support"."""
    return supporter()


@pytest.fixture
def enrolled(api, ann, clock):
    found = Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    clock.forward(seconds=30)
    return found


def account(email=ANN):
    return Account.objects.get(email=email)


def person(email=ANN):
    return lookup.get_person(the_user(email))


def support_page(email=ANN):
    return reverse("admin:authservice_core_account_support", args=[account(email).pk])


def button(name, email=ANN):
    return reverse("admin:authservice_core_account_support_button", args=[account(email).pk, name])


def press(browser, name, email=ANN):
    """Press a button and confirm it; returns the page that follows."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        answer = browser.send(button(name, email), email=email)
    assert answer.status_code == 200
    return answer.content.decode()


def supporter(email="helper@example.com"):
    """A browser of a member of staff who has the group "Support" and nothing else."""
    call_command("authservice_support_group", verbosity=0, stdout=StringIO())
    user = staff(email)
    user.groups.add(Group.objects.get(name="Support"))
    return Browser(user)


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


def everything():
    models = (Account, Session, Authenticator, AttemptCounter)
    return [list(model.objects.order_by("pk").values()) for model in models]


def offered(page):
    return [name for name in NAMES if f'/support/{name}/"' in page]
