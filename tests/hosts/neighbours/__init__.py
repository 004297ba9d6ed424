"""A host with every module and with django-allauth and django-organizations, whose labels, tables,
routes and signals resemble those of authservice."""

from __future__ import annotations

from typing import Any

from tests.hosts.shipped import everything, replace
from tests.support.admin_settings import MIDDLEWARE, TEMPLATES

_THEIRS = [
    "django.contrib.admin",
    "django.contrib.messages",
    "django.contrib.sessions",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.usersessions",
    "organizations",
]


def change(settings: dict[str, Any]) -> None:
    ours = replace(settings["INSTALLED_APPS"], everything())
    settings.update(
        INSTALLED_APPS=[*_THEIRS, *ours],
        ROOT_URLCONF="tests.hosts.neighbours.urls",
        AUTHENTICATION_BACKENDS=[
            "django.contrib.auth.backends.ModelBackend",
            "allauth.account.auth_backends.AuthenticationBackend",
        ],
        MIDDLEWARE=[
            *MIDDLEWARE,
            "authservice.middleware.AuthserviceMiddleware",
            "allauth.account.middleware.AccountMiddleware",
            "allauth.usersessions.middleware.UserSessionsMiddleware",
        ],
        TEMPLATES=TEMPLATES,
        ACCOUNT_LOGIN_METHODS={"email"},
        ACCOUNT_SIGNUP_FIELDS=["email*", "password1*"],
        ACCOUNT_RATE_LIMITS=False,
        LOGIN_REDIRECT_URL="/",
    )
    settings["AUTHSERVICE"].setdefault("OAUTH", {})["USE_SESSION_AUTH"] = True
