"""The project of the deployment: the example project with Celery and health checks."""

from service.celery import app

__all__ = ["app"]
