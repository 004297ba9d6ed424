"""Settings of the baseline: documented options only, without any that slow it down needlessly."""

import os

from tests.benchmarks.peers.django_settings import *  # noqa: F403
from tests.benchmarks.peers.django_settings import INSTALLED_APPS as COMMON
from tests.benchmarks.peers.django_settings import JSON_ONLY
from tests.benchmarks.peers.django_settings import MIDDLEWARE as DJANGOS

ROOT_URLCONF = "tests.benchmarks.baseline.urls"
INSTALLED_APPS = [
    *COMMON,
    "rest_framework",
    "rest_framework_simplejwt.token_blacklist",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "dj_rest_auth",
    "dj_rest_auth.registration",
]
# allauth does not start without its own middleware.
MIDDLEWARE = [*DJANGOS, "allauth.account.middleware.AccountMiddleware"]
# Django's backend first, and lower-case names: lookups by username then use its unique index.
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
ACCOUNT_PRESERVE_USERNAME_CASING = False
REST_FRAMEWORK = {
    **JSON_ONLY,
    "DEFAULT_AUTHENTICATION_CLASSES": ["dj_rest_auth.jwt_auth.JWTCookieAuthentication"],
}
REST_AUTH = {
    "USE_JWT": True,
    "JWT_AUTH_HTTPONLY": False,
    "TOKEN_MODEL": None,
    # Enabled by default in dj-rest-auth: a login with a JWT also creates a Django session.
    "SESSION_LOGIN": os.environ.get("BENCHMARK_SESSION_LOGIN", "1") == "1",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False
