"""The module in which the autodiscovery of a Celery app looks for tasks."""

from authservice.notification.dispatchers.celery import deliver

__all__ = ["deliver"]
