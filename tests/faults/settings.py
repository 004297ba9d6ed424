"""The example project with a cheap password hasher: the faults concern what happens around it."""

import django

from example_project import settings
from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if django.VERSION < (6, 1):
    EMAIL_TIMEOUT = 1
else:
    settings.MAILERS["default"]["OPTIONS"]["timeout"] = 1
# Pauses of half a second, a second and so on, instead of five seconds. Together they are longer
# than a run, in which the mail server is away again and again.
AUTHSERVICE["NOTIFICATION"] |= {"BACKOFF": 0.5, "RETRIES": 10}
