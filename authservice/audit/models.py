"""One table: one entry for each event, written once and never changed.

Users are referenced by id and not by foreign key, since entries stay after a user is deleted. Ids
sort by time (UUID version 7), so one index serves a filter and the order of time within it.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from authservice.kernel.databases import PrimaryManager
from authservice.kernel.languages import admin_text as _

# Maximum lengths.
AGENT = 512
ACTION = 64


class Entry(models.Model):
    """Who did what to whom; `metadata` is JSON text, `topic` what `writer.category_of` returns."""

    id = models.UUIDField(primary_key=True, editable=False)
    action = models.CharField(max_length=ACTION, verbose_name=_("action"))
    severity = models.CharField(max_length=8, verbose_name=_("severity"))
    topic = models.CharField(max_length=8, blank=True, default="", verbose_name=_("topic"))
    actor_id = models.CharField(max_length=255, blank=True, default="", verbose_name=_("actor"))
    actor_type = models.CharField(max_length=8, verbose_name=_("type of actor"))
    target_id = models.CharField(max_length=255, blank=True, default="", verbose_name=_("target"))
    target_type = models.CharField(
        max_length=32, blank=True, default="", verbose_name=_("type of target")
    )
    details = models.CharField(max_length=255, blank=True, default="", verbose_name=_("details"))
    metadata = models.TextField(default="{}", verbose_name=_("metadata"))
    ip_address = models.CharField(
        max_length=45, blank=True, default="", verbose_name=_("IP address")
    )
    user_agent = models.CharField(
        max_length=AGENT, blank=True, default="", verbose_name=_("browser")
    )
    created_at = models.DateTimeField(verbose_name=_("time"))

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("log entry")
        verbose_name_plural = _("log entries")
        # One index for each filter and sort field of the lists, each followed by the order of time.
        # Three combine a filter with the actor: one user may be the actor of 5 % of all entries.
        indexes: ClassVar = [
            models.Index(fields=["action", "id"], name="authsvc_audit_action"),
            models.Index(fields=["severity", "id"], name="authsvc_audit_severity"),
            models.Index(fields=["actor_id", "id"], name="authsvc_audit_actor"),
            models.Index(fields=["actor_id", "topic", "id"], name="authsvc_audit_actor_topic"),
            models.Index(fields=["actor_id", "action", "id"], name="authsvc_audit_actor_action"),
            models.Index(
                fields=["actor_id", "severity", "id"], name="authsvc_audit_actor_severity"
            ),
            models.Index(fields=["target_id", "id"], name="authsvc_audit_target"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.pk}"
