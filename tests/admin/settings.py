"""A host with Django admin; `TEST_HOST` or `ADMIN_USERS` selects its user model."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.sessions",
    "django.contrib.messages",
    *OTHERS,
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
STATIC_URL = "static/"
ROOT_URLCONF = "tests.admin.urls"
if os.environ.get("ADMIN_USERS") == "email":
    INSTALLED_APPS.append("tests.admin.email_staff")
    AUTH_USER_MODEL = "email_staff.User"
