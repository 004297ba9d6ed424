"""The Celery app of the project in `celery_settings`, as in Celery's documentation."""

from celery import Celery

app = Celery("tests")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
