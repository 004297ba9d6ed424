"""Settings of django-allauth headless: documented options only."""

import os

from tests.benchmarks import terms
from tests.benchmarks.peers.django_settings import *  # noqa: F403
from tests.benchmarks.peers.django_settings import INSTALLED_APPS as COMMON
from tests.benchmarks.peers.django_settings import MIDDLEWARE as DJANGOS

ROOT_URLCONF = "tests.benchmarks.peers.allauth.urls"
INSTALLED_APPS = [*COMMON, "allauth", "allauth.account", "allauth.headless"]
# allauth does not start without its own middleware.
MIDDLEWARE = [*DJANGOS, "allauth.account.middleware.AccountMiddleware"]
# Django's backend first, and lower-case names: lookups by username then use its unique index.
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False
HEADLESS_ONLY = True
HEADLESS_CLIENTS = ["app"]
if os.environ.get("BENCHMARK_ALLAUTH_TOKENS") == "jwt":
    HEADLESS_TOKEN_STRATEGY = "allauth.headless.tokens.strategies.jwt.JWTTokenStrategy"
    # The algorithm of the other packages; the default, RS256, signs ten times slower.
    HEADLESS_JWT_ALGORITHM = "HS256"
    HEADLESS_JWT_PRIVATE_KEY = terms.SECRET_KEY
    HEADLESS_JWT_ROTATE_REFRESH_TOKEN = True
