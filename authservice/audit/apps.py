"""Django app of the audit module, and the slots that it fills."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.actions import STAFF, Action
from authservice.kernel.languages import admin_text


class AuditConfig(modules.ModuleConfig):
    name = "authservice.audit"
    label = "authservice_audit"
    verbose_name = admin_text("Audit log")
    views = "authservice.audit.views"
    event_listener = "authservice.audit.writer.record_event"
    support = "authservice.audit.support.support"
    examinations = ("authservice.audit.examinations.examine_retention",)

    actions = {
        "admin.audit.cleaned": Action(
            "Old audit entries were deleted.",
            actors=STAFF,
            when="A super admin or the command deletes expired entries.",
        ),
    }

    def ready(self) -> None:
        from authservice.audit import checks

        checks.connect()
