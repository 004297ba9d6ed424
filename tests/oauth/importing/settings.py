"""A project on django-allauth and social-auth-app-django that has installed authservice beside."""

import warnings

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OURS

# social-auth-core imports a deprecated module of another package.
warnings.filterwarnings("ignore", category=DeprecationWarning, message="defusedxml")

INSTALLED_APPS = [
    *OURS,
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "social_django",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
