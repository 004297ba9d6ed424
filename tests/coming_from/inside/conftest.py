from datetime import timedelta
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.utils import timezone

from authservice.twofactor.models import Authenticator
from tests.magiclink.magic import Magic
from tests.support.flows import CommittingApi
from tests.support.messenger.post import office
from tests.support.people import unsaved
from tests.support.slots import Listener

# These tests require the tables of the other packages: `test_coming_from.py` one folder above runs
# them in a host that installs them.
collect_ignore_glob = [] if apps.is_installed("two_factor") else ["test_*.py"]

ANN, BOB = "ann@example.com", "bob@example.com"


@pytest.fixture
def run():
    """`run("authservice_import", "allauth")` returns the output of the command."""

    def run(*arguments):
        out = StringIO()
        call_command(*arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    return run


@pytest.fixture
def bring(run):
    """`bring("allauth", "--dry-run")`: the report of an import."""
    return lambda *arguments: run("authservice_import", *arguments)


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post():
    office.jobs.clear()
    office.can_sms = True
    return office


@pytest.fixture
def magic(api, post):
    return Magic(api, post)


@pytest.fixture
def recorded(monkeypatch):
    """`recorded(action)` lists the events with that action that the listeners received."""
    events = []
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (Listener(events.append),))
    return lambda action: [event for event in events if event.action == action]


@pytest.fixture
def refused(bring, secrets):
    """`refused("allauth", reason)`: Ann's factor is reported, Bob's is imported."""

    def refused(source, reason):
        report = bring(source)

        assert f"Skipped: {reason}" in report
        assert [one.user.email for one in Authenticator.objects.all()] == [BOB]
        for secret in secrets:
            assert secret not in report
        return report

    return refused


@pytest.fixture
def ann():
    return old_users(BOB, ANN)[1]


@pytest.fixture
def bob(ann):
    return get_user_model().objects.get(email=BOB)


def old_users(*emails, **more):
    """Users from before the service was installed, with accounts."""
    long_ago = timezone.now() - timedelta(days=900)
    # Some databases compare usernames without case, and these users may share an address.
    start = get_user_model().objects.count()
    users = [
        unsaved(email, username=f"user-{place}", date_joined=long_ago, **more)
        for place, email in enumerate(emails, start)
    ]
    get_user_model().objects.bulk_create(users)
    call_command("authservice_sync_accounts", stdout=StringIO())
    found = {user.email: user for user in get_user_model().objects.filter(email__in=emails)}
    return [found[email] for email in emails]


def old_user(email=ANN, **more):
    (user,) = old_users(email, **more)
    return user
