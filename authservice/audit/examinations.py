"""What `authservice_doctor` examines of the audit log: whether old entries are deleted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from authservice.audit import retention
from authservice.kernel import clock
from authservice.kernel.examinations import ATTENTION, OK, Finding, Visit

# The command runs once a day, and one run may fail.
_OVERDUE = timedelta(hours=48)


def examine_retention(visit: Visit) -> Iterator[Finding]:
    """Whether entries are left that `authservice_audit_cleanup` would have deleted two days ago."""
    if not visit.has_tables:
        return
    with visit.reading():
        overdue = any(rows.exists() for rows in retention.due(clock.utc() - _OVERDUE))
    if not overdue:
        yield Finding(
            area="cleanup", state=OK, text="No audit entry is older than AUDIT.RETENTION."
        )
        return
    yield Finding(
        area="cleanup",
        state=ATTENTION,
        text="Audit entries older than AUDIT.RETENTION have not been deleted for 48 hours: personal"
        " data are kept for longer than you promise.",
        settings="the crontab, systemd timer or Celery beat that runs authservice_audit_cleanup",
        remedy="Run `manage.py authservice_audit_cleanup` now, and once a day, such as by the"
        " crontab line `47 4 * * * manage.py authservice_audit_cleanup`. (docs: running/retention)",
    )
