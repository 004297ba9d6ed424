"""A host with every module and with django-allauth and django-organizations, whose labels, tables,
routes and signals resemble those of authservice."""

from __future__ import annotations

from typing import Any

from tests.hosts.shipped import everything, replace

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
_CONTEXT = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
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
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
            "allauth.usersessions.middleware.UserSessionsMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": _CONTEXT},
            }
        ],
        ACCOUNT_LOGIN_METHODS={"email"},
        ACCOUNT_SIGNUP_FIELDS=["email*", "password1*"],
        ACCOUNT_RATE_LIMITS=False,
        LOGIN_REDIRECT_URL="/",
    )
    settings["AUTHSERVICE"].setdefault("OAUTH", {})["USE_SESSION_AUTH"] = True
