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
    """`uptime(7200)` sets the number of seconds since the start of the process."""
    monkeypatch.setattr(cleanup, "_next_look", HOUR)

    def up(seconds):
        monkeypatch.setattr(cleanup, "monotonic", lambda: seconds)

    return up


@pytest.fixture
def warnings(caplog):
    """Compose a message, as the worker does, and return its log messages."""

    def warnings():
        caplog.clear()
        with pytest.raises(compose.UnknownKind):  # costs no query of its own
            compose.compose(Message(kind="no-such-kind", target="ann@example.com"))
        return [record.getMessage() for record in caplog.records]

    return warnings


def expired(**ago):
    moment = timezone.now() - timedelta(**ago)
    OneTimeToken.objects.create(purpose="verify-email", digest=uuid.uuid4().hex, expires_at=moment)


def test_missing_cleanup_is_logged_once_a_day(uptime, warnings):
    expired(days=3, minutes=1)
    uptime(2 * HOUR)

    (message,) = warnings()
    assert "run `manage.py authservice_cleanup`" in message
    assert warnings() == []

    uptime(25 * HOUR)
    assert warnings() == []
    uptime(27 * HOUR)
    assert len(warnings()) == 1


def test_rows_that_a_daily_cleanup_would_leave_are_not_logged(uptime, warnings):
    expired(days=2, hours=23)
    uptime(2 * HOUR)

    assert warnings() == []


def test_cleanup_ends_the_overdue_warning(uptime, warnings, run):
    expired(days=30)
    run("authservice_cleanup")
    uptime(2 * HOUR)

    assert warnings() == []


def test_new_process_does_not_query_for_overdue_cleanup(
    uptime, warnings, django_assert_num_queries
):
    expired(days=30)
    uptime(HOUR - 1)

    with django_assert_num_queries(0):
        assert warnings() == []
