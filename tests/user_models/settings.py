"""A project whose users are the model of `people` that the variable USER_MODEL names."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    *OTHERS,
    "authservice.magiclink",
    "authservice.organization",
    "tests.support.messenger.apps.PostOffice",
    "tests.user_models.people",
    "django.contrib.admin",
    "django.contrib.sessions",
    "django.contrib.messages",
]
AUTH_USER_MODEL = f"people.{os.environ['USER_MODEL']}"
