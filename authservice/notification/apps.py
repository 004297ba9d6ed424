"""App configuration of the notification module."""

from __future__ import annotations

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class NotificationConfig(modules.ModuleConfig):
    name = "authservice.notification"
    label = "authservice_notification"
    verbose_name = admin_text("Mail and text messages")
    messenger = "authservice.notification.dispatchers.messenger"
    examinations = (
        "authservice.notification.examinations.examine_mail",
        "authservice.notification.examinations.examine_worker",
    )

    def ready(self) -> None:
        from authservice.notification import checks

        checks.connect()
