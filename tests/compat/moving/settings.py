"""The settings of the project in its stages.

`STAGE` is `both` (old package and service side by side), `ours` (the old package is removed, its
tokens are still traded) or `alone` (nothing of it is left). `OLD` is the old package.
"""

import os
from datetime import UTC, datetime, timedelta

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES
from tests.settings import INSTALLED_APPS as OTHERS

STAGE, OLD = os.environ["STAGE"], os.environ["OLD"]

_OLD_APPS = {
    "rest_auth": [
        "allauth",
        "allauth.account",
        "allauth.mfa",
        "allauth.socialaccount",
        "dj_rest_auth",
    ],
    "djoser": ["djoser"],
    "two_factor": ["two_factor", "two_factor.plugins.phonenumber"],
}
_SESSIONS = ["django.contrib.sessions"]
_BOTH = ["django.contrib.messages", "django.contrib.sites", *_OLD_APPS[OLD]]
_TRADING = ["rest_framework_simplejwt.token_blacklist", "authservice.compat.simplejwt"]
_DEVICES = ["django_otp.plugins.otp_totp", "django_otp.plugins.otp_static"]
# With django-two-factor-auth, users have sessions of Django and no tokens.
_BEFORE_ALONE = _DEVICES if OLD == "two_factor" else _TRADING

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # The file is thrown away: nothing waits for the disk.
    fast = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF"
    DATABASES["default"]["OPTIONS"]["init_command"] = fast

INSTALLED_APPS = [
    *(_BOTH if STAGE == "both" else []),
    *(_BEFORE_ALONE if STAGE != "alone" else []),
    *OTHERS,
    *(_SESSIONS if STAGE == "both" or OLD == "two_factor" else []),
    *(["django_otp"] if OLD == "two_factor" else []),
    "authservice.csrf",
]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
if STAGE == "both" or OLD == "two_factor":
    MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        *MIDDLEWARE,
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ]
if OLD == "two_factor":
    MIDDLEWARE += [
        "authservice.middleware.AuthserviceMiddleware",
        "django_otp.middleware.OTPMiddleware",
    ]
elif STAGE == "both":
    MIDDLEWARE.append("django.contrib.messages.middleware.MessageMiddleware")
    if OLD == "rest_auth":
        MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")
ROOT_URLCONF = "tests.compat.moving.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]
LOGIN_URL, LOGIN_REDIRECT_URL = "two_factor:login", "/page/"
SITE_ID = 1
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_RATE_LIMITS = False
REST_AUTH = {
    "USE_JWT": True,
    "TOKEN_MODEL": None,
    "SESSION_LOGIN": False,
    "JWT_AUTH_COOKIE": "old-access",
    "JWT_AUTH_REFRESH_COOKIE": "old-refresh",
    "JWT_AUTH_HTTPONLY": False,
}
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(hours=1),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=30),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
}
_NOW = datetime.now(UTC)
AUTHSERVICE = {
    "API_URL": "http://testserver",
    "COOKIES": {"ENABLED": True},
    "THROTTLE": {"ENABLED": False},
}
if _BEFORE_ALONE is _TRADING and STAGE != "alone":
    AUTHSERVICE["SIMPLEJWT"] = {
        "TRADE_ISSUED_BEFORE": _NOW + timedelta(hours=1),
        "TRADE_UNTIL": _NOW + timedelta(days=30),
        "TRADE_COOKIE": "old-refresh",
    }
