"""What the settings of the baseline and of all Django peers have in common."""

from datetime import timedelta

from tests.benchmarks import terms
from tests.support.mailing import mail_settings

SECRET_KEY = terms.SECRET_KEY
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_TZ = True
DATABASES = terms.databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = terms.PASSWORD_HASHERS
AUTH_PASSWORD_VALIDATORS = terms.AUTH_PASSWORD_VALIDATORS
LOGGING = terms.LOGGING
globals().update(mail_settings("dummy"))
MIDDLEWARE = terms.MIDDLEWARE
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
STATIC_URL = "static/"
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
    },
]
JSON_ONLY = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
}
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=15),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=7),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
}
