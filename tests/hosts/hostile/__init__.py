"""A host that changes every setting that could affect responses of other apps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

_TRAPS = "tests.hosts.hostile.traps."
_CONTRIB = ["django.contrib.sessions", "django.contrib.messages"]


def change(settings: dict[str, Any]) -> None:
    settings["DATABASES"]["default"]["ATOMIC_REQUESTS"] = True
    settings["INSTALLED_APPS"] = [*_CONTRIB, *settings["INSTALLED_APPS"]]
    settings.update(
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        MIDDLEWARE=MIDDLEWARE,
        REST_FRAMEWORK=REST_FRAMEWORK,
        SIMPLE_JWT=SIMPLE_JWT,
        TIME_ZONE="Asia/Kathmandu",
        USE_THOUSAND_SEPARATOR=True,
    )


MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

REST_FRAMEWORK = {
    "COERCE_DECIMAL_TO_STRING": False,
    "COMPACT_JSON": False,
    "DATETIME_FORMAT": "%d/%m/%Y",
    "DATETIME_INPUT_FORMATS": ["%d/%m/%Y"],
    "DEFAULT_AUTHENTICATION_CLASSES": [_TRAPS + "Authentication"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": _TRAPS + "Negotiation",
    "DEFAULT_FILTER_BACKENDS": [_TRAPS + "Filter"],
    "DEFAULT_METADATA_CLASS": _TRAPS + "Metadata",
    "DEFAULT_PAGINATION_CLASS": _TRAPS + "Pagination",
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
    "DEFAULT_PERMISSION_CLASSES": [_TRAPS + "Permission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
    "DEFAULT_THROTTLE_CLASSES": [_TRAPS + "Throttle"],
    "DEFAULT_VERSION": "7",
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
    "EXCEPTION_HANDLER": _TRAPS + "handle",
    "FORMAT_SUFFIX_KWARG": "suffix",
    "NON_FIELD_ERRORS_KEY": "oops",
    "NUM_PROXIES": 2,
    "PAGE_SIZE": 1,
    "STRICT_JSON": False,
    "UNAUTHENTICATED_TOKEN": None,
    "UNAUTHENTICATED_USER": None,
    "UNICODE_JSON": False,
    "URL_FIELD_NAME": "link",
    "URL_FORMAT_OVERRIDE": "format",
    "VIEW_DESCRIPTION_FUNCTION": _TRAPS + "handle",
    "VIEW_NAME_FUNCTION": _TRAPS + "handle",
}

# Tokens of the host as similar as possible: the same claims, issuer and audience.
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(days=400),
    "ALGORITHM": "HS256",
    "AUDIENCE": "authservice",
    "AUTH_HEADER_TYPES": ("JWT", "Bearer"),
    "CHECK_REVOKE_TOKEN": True,
    "ISSUER": "http://testserver",
    "JTI_CLAIM": "sid",
    "LEEWAY": 3600,
    "TOKEN_TYPE_CLAIM": "typ",
    "UPDATE_LAST_LOGIN": True,
    "USER_ID_CLAIM": "sub",
}
