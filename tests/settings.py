"""Settings of the test suite: a plain host, or the one of `tests/hosts` that `TEST_HOST` names."""

import os
from importlib import import_module

import django

from example_project.databases import database

# Read when modules of the service are imported, which is after this one.
os.environ.setdefault("AUTHSERVICE_CHECK_TRANSACTIONS", "1")

SECRET_KEY = "a secret of the tests, long enough to be a key"
DEBUG = False
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "authservice.core",
    "authservice.stateless",
    "authservice.openapi",
    "authservice.admin",
    "authservice.twofactor",
    "authservice.invitation",
    "authservice.oauth",
    "authservice.passkeys",
]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "tests.urls"
DATABASES = {
    "default": database(os.environ.get("DATABASE_URL", "sqlite://:memory:"), conn_max_age=0)
}
# Race tests open a connection per thread, more than a pool provides.
DATABASES["default"].get("OPTIONS", {}).pop("pool", None)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"  # required by the live server of the tests
# A cheap hash keeps the suite fast and shows the cost of the code; hashing tests use real ones.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    "tests.support.hashing.PBKDF2",
    "authservice.hashers.Argon2id",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
if django.VERSION >= (6, 1):
    MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
AUTHSERVICE = {"API_URL": "http://testserver"}

HOST = os.environ.get("TEST_HOST", "")
if HOST:
    import_module(f"tests.hosts.{HOST}").change(globals())
