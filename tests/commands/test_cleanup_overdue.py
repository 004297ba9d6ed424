"""A service whose tables are never cleaned up logs that once a day."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from authservice.core import cleanup
from authservice.core.messages import compose
from authservice.core.models import OneTimeToken
from authservice.kernel.message_queue import Message

pytestmark = pytest.mark.django_db

HOUR = 3600


@pytest.fixture
def uptime(monkeypatch):
    """`uptime(7200)` is a process that has been up for so many seconds, and goes on from there."""
    monkeypatch.setattr(cleanup, "_next_look", HOUR)

    def up(seconds):
        monkeypatch.setattr(cleanup, "monotonic", lambda: seconds)

    return up


@pytest.fixture
def warnings(caplog):
    """What the worker logs when it composes a message."""

    def warnings():
        caplog.clear()
        compose.compose(Message(kind="no-such-kind", target="ann@example.com"))
        return [record.getMessage() for record in caplog.records]

    return warnings


def expired(**ago):
    moment = timezone.now() - timedelta(**ago)
    OneTimeToken.objects.create(purpose="verify-email", digest=uuid.uuid4().hex, expires_at=moment)


def test_missing_cleanup_is_logged_once_a_day(uptime, warnings):
    expired(days=3, minutes=1)
    uptime(2 * HOUR)

    (said,) = warnings()
    assert "run `manage.py authservice_cleanup`" in said
    assert warnings() == []

    uptime(25 * HOUR)
    assert warnings() == []
    uptime(27 * HOUR)
    assert len(warnings()) == 1


def test_rows_that_a_daily_cleanup_would_leave_are_not_logged(uptime, warnings):
    expired(days=2, hours=23)
    uptime(2 * HOUR)

    assert warnings() == []


def test_cleanup_ends_the_warning(uptime, warnings, run):
    expired(days=30)
    run("authservice_cleanup")
    uptime(2 * HOUR)

    assert warnings() == []


def test_young_process_asks_nothing(uptime, warnings, django_assert_num_queries):
    expired(days=30)
    uptime(HOUR - 1)

    with django_assert_num_queries(0):
        assert warnings() == []
