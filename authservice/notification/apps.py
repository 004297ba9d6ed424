"""App configuration of the notification module."""

from __future__ import annotations

from authservice.kernel import modules


class NotificationConfig(modules.ModuleConfig):
    name = "authservice.notification"
    label = "authservice_notification"
    verbose_name = "Mail and text messages"
    messenger = "authservice.notification.messenger.messenger"

    def ready(self) -> None:
        from authservice.notification import checks

        checks.connect()
