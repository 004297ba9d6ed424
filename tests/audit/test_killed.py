"""Who is killed between a deed and its answer has kept both the deed and its entry, or neither."""

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
    """What is in the database after the process died at a moment: accounts and actions."""
    with own_database(f"killed_{request.param}", tmp_path) as url:
        killed = python("-m", "tests.audit.killed", request.param, DATABASE_URL=url, **SETTINGS)
        assert killed.returncode == -signal.SIGKILL, killed.stdout
        looked = python("-c", LOOK, DATABASE_URL=url, **SETTINGS)
        yield request.param, looked.stdout.splitlines()


def test_what_was_done_is_told_and_what_was_not_is_not(found):
    moment, rows = found

    assert (
        rows
        == {
            "after": ["['ann@example.com']", "['auth.signup']"],
            "before": ["[]", "[]"],
        }[moment]
    )
