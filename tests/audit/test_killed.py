"""A process killed during a request stores both the action and its audit entry, or neither."""

import signal

import pytest

from tests.hosts.runs import python
from tests.hosts.servers import own_database

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.benchmarks.audit_settings"}
LOOK = """
import django
django.setup()
from authservice.audit.models import Entry
from authservice.core.models import Account
print(list(Account.objects.values_list("email", flat=True)))
print(list(Entry.objects.order_by("pk").values_list("action", flat=True)))
"""


@pytest.fixture(params=["after", "before"])
def found(request, tmp_path):
    """The moment, and the accounts and actions in the database after the process was killed."""
    with own_database(f"killed_{request.param}", tmp_path) as url:
        killed = python("-m", "tests.audit.killed", request.param, DATABASE_URL=url, **SETTINGS)
        assert killed.returncode == -signal.SIGKILL, killed.stdout
        looked = python("-c", LOOK, DATABASE_URL=url, **SETTINGS)
        yield request.param, looked.stdout.splitlines()


def test_killed_process_stores_action_and_entry_or_neither(found):
    moment, rows = found

    assert (
        rows
        == {
            "after": ["['ann@example.com']", "['auth.signup']"],
            "before": ["[]", "[]"],
        }[moment]
    )
