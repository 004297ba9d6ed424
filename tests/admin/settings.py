"""A host with Django admin; `TEST_HOST` or `ADMIN_USERS` selects its user model."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS
from tests.support.admin_settings import MIDDLEWARE as MIDDLEWARE
from tests.support.admin_settings import TEMPLATES as TEMPLATES

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.sessions",
    "django.contrib.messages",
    *OTHERS,
]
STATIC_URL = "static/"
ROOT_URLCONF = "tests.admin.urls"
if os.environ.get("ADMIN_USERS") == "email":
    INSTALLED_APPS.append("tests.admin.email_staff")
    AUTH_USER_MODEL = "email_staff.User"
