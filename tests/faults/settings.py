"""The example project with a cheap password hasher: the faults concern what happens around it."""

from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

EMAIL_TIMEOUT = 1
# Pauses of half a second, a second and so on, instead of five seconds.
AUTHSERVICE["NOTIFICATION"] |= {"BACKOFF": 0.5, "RETRIES": 8}
