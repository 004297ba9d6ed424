"""A project on the packages that users come from, with authservice installed beside them."""

import sys
import warnings
from pathlib import Path

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OURS

# social-auth-core imports a deprecated module of another package.
warnings.filterwarnings("ignore", category=DeprecationWarning, message="defusedxml")

# Last, so that an installed djoser is found first.
sys.path.append(str(Path(__file__).parent / "packages"))

INSTALLED_APPS = [
    *OURS,
    "authservice.magiclink",
    "tests.support.messenger.apps.PostOffice",
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "dj_rest_auth",
    "dj_rest_auth.registration",
    "dj_rest_auth.mfa",
    "rest_framework.authtoken",
    "rest_framework_simplejwt",
    "rest_framework_simplejwt.token_blacklist",
    "djoser",
    "knox",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_email",
    "two_factor",
    "two_factor.plugins.phonenumber",
    "django_otp_webauthn",
]
# Our migrations run, since the time of the first one is read. The tables of the other packages, and
# of Django, to which theirs refer, are made from their models, which takes seconds less.
_OTHERS = (
    *("auth", "contenttypes", "sessions"),
    *("account", "socialaccount", "mfa", "authtoken", "token_blacklist", "knox", "two_factor"),
    *("otp_totp", "otp_static", "otp_email", "phonenumber", "django_otp_webauthn"),
)
MIGRATION_MODULES = dict.fromkeys(_OTHERS)
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
# Both packages know this service by the domain of the test client.
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
OTP_WEBAUTHN_RP_ID = "testserver"
OTP_WEBAUTHN_RP_NAME = "Shop"
OTP_WEBAUTHN_ALLOWED_ORIGINS = ["http://testserver"]
REST_AUTH = {"USE_JWT": True, "JWT_AUTH_HTTPONLY": False}

# Version 5.0.0 has no default.
KNOX_TOKEN_MODEL = "knox.AuthToken"
