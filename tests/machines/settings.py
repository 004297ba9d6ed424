"""The deployment with a cheap password hasher, short pauses, and queues of its own."""

import os

import django
from service import settings
from service.settings import *  # noqa: F403
from service.settings import AUTHSERVICE

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if django.VERSION < (6, 1):
    EMAIL_TIMEOUT = 1
else:
    settings.MAILERS["default"]["OPTIONS"]["timeout"] = 1
CELERY_TASK_DEFAULT_QUEUE = os.environ["TEST_QUEUE"]
AUTHSERVICE["NOTIFICATION"] |= {
    "BACKOFF": 0.5,
    "NOTICE_QUEUE": os.environ["TEST_QUEUE"] + "-notices",
    "RETRIES": 8,
}
