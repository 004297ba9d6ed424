"""What `authservice_doctor` examines of the audit log: whether old entries are deleted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from authservice.audit import partitions, retention
from authservice.kernel import clock
from authservice.kernel.checks import ATTENTION, OK, Finding, Visit

# The command runs once a day, and one run may fail.
_OVERDUE = timedelta(hours=48)
_MONTH = timedelta(days=31)


def examine_retention(visit: Visit) -> Iterator[Finding]:
    """Whether entries are left that the command should have deleted two days ago."""
    if not visit.has_tables:
        return
    command, late = "authservice_audit_cleanup", _OVERDUE
    with visit.reading():
        if partitions.is_partitioned():
            # Whole months are dropped, so an entry stays up to a month and a margin longer.
            command, late = "authservice_audit_partitions", late + _MONTH + partitions.MARGIN
        overdue = any(rows.exists() for rows in retention.due(clock.utc() - late))
    if not overdue:
        yield Finding(
            area="cleanup", state=OK, text="No audit entry is older than AUDIT.RETENTION."
        )
        return
    yield Finding(
        area="cleanup",
        state=ATTENTION,
        text="Audit entries older than AUDIT.RETENTION should have been deleted more than 48 hours"
        " ago: personal data are kept for longer than you promise.",
        settings=f"the crontab, systemd timer or Celery beat that runs {command}",
        remedy=f"Run `manage.py {command}` now, and once a day, such as by the crontab line"
        f" `47 4 * * * manage.py {command}`. (docs: running/retention)",
    )
