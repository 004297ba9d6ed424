from datetime import timedelta
from functools import cached_property
from urllib.parse import urljoin

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from authservice.core.models import AttemptCounter, OneTimeToken, Session
from tests.admin.inside.browsers import ROOT, logged_in
from tests.support.client import PASSWORD
from tests.support.people import make_user, permission
from tests.support.slots import Listener

# These tests require Django admin: `tests/admin/test_admin.py` runs them in hosts that install it.
collect_ignore_glob = [] if apps.is_installed("django.contrib.admin") else ["test_*.py"]


class Answer:
    """The answer to a form. Only a test that reads it, or that goes on with the browser, opens the
    page to which it leads: such a page takes longer than most forms."""

    def __init__(self, client, answer, meta):
        self._client, self._answer, self._meta = client, answer, meta

    @cached_property
    def page(self):
        answer, chain = self._answer, []
        while answer.status_code == 302:
            chain.append((answer.url, answer.status_code))
            url = urljoin(answer.request["PATH_INFO"], answer.url)
            answer = self._client.get(url, **self._meta)
        answer.redirect_chain = chain  # as Django's client has it
        return answer

    def __getattr__(self, name):
        return getattr(self.page, name)

    def __contains__(self, text):
        return text in self.page.content.decode()


class Browser:
    """A staff user in Django admin."""

    def __init__(self, user, *, raising=True):
        self.user = user
        self._client = Client(raise_request_exception=raising)
        self._client.force_login(user)
        self._last = None

    def see(self, page, *, status=200, **query):
        answer = self._goes_on().get(page, query)
        assert answer.status_code == status, page
        return answer.content.decode()

    def ask(self, url):
        """The answer to a URL that may have a query string."""
        return self._goes_on().get(url)

    def send(self, page, meta=None, /, **form):
        """`meta` is the client in `request.META`."""
        meta = meta or {}
        answer = self._goes_on().post(page, form, **meta)
        self._last = Answer(self._client, answer, meta)
        return self._last

    def _goes_on(self):
        """The client, after the page of the last form: its messages are not shown on another."""
        if self._last:
            _ = self._last.page
            self._last = None
        return self._client

    def act(self, model, action, *rows):
        """Run an action on rows of a list, and confirm it."""
        form = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
        form["confirmed"] = "yes"
        return self.send(listed(model), **form)


def listed(model):
    return reverse(f"admin:authservice_core_{model}_changelist")


def page(row, view="change"):
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{view}", args=[row.pk])


def staff(email, *permissions, superuser=False):
    user = make_user(email, is_staff=True, is_superuser=superuser)
    for codename in permissions:
        user.user_permissions.add(permission(codename))
    return get_user_model().objects.get(pk=user.pk)


@pytest.fixture
def root():
    return Browser(staff(ROOT, superuser=True))


@pytest.fixture
def helper():
    """`helper("view_account")` is a staff user with these permissions only."""
    return lambda *permissions: Browser(staff("helper@example.com", *permissions))


@pytest.fixture
def ann(api):
    """The tokens of a user after sign-up."""
    return api.sign_up("ann@example.com", phone_number="+4930123456")


@pytest.fixture
def recorded(monkeypatch):
    """`recorded(action)` lists the events with that action that the listeners received."""
    events = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(events.append),))
    return lambda action: [event for event in events if event.action == action]


@pytest.fixture
def many(api):
    """`many(50)` creates 50 users, each with a session, a one-time token and an attempt counter."""

    def fill(number):
        for n in range(number):
            user = make_user(f"p{n}@example.com", password=PASSWORD)
            now = timezone.now()
            Session.objects.create(
                user=user,
                seed="5eed" * 8,
                password_fingerprint="a" * 64,
                token_version=0,
                amr="pwd",
                auth_time=now,
                created_at=now,
                refreshed_at=now,
                last_used_at=now,
                idle_expires_at=now + timedelta(days=1),
                expires_at=now + timedelta(days=1),
            )
            OneTimeToken.objects.create(
                purpose="verify-email", user=user, digest=f"{n:064x}", expires_at=now
            )
            AttemptCounter.objects.create(key=f"{n:064x}", ends_at=now)

    return fill


@pytest.fixture
def root_user():
    return staff(ROOT, superuser=True)


@pytest.fixture
def thief(root_user):
    """A client that logged in to Django admin with the password."""
    return logged_in(root_user)
