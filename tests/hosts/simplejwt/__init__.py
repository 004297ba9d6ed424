"""A host that issues its own tokens with simplejwt, as similar as possible to those of authservice.

They have the same `SECRET_KEY`, issuer, audience, claims and header.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"] += ["rest_framework_simplejwt.token_blacklist"]
    settings["ROOT_URLCONF"] = "tests.hosts.simplejwt.urls"
    settings["REST_FRAMEWORK"] = {
        "DEFAULT_AUTHENTICATION_CLASSES": [
            "rest_framework_simplejwt.authentication.JWTAuthentication"
        ],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    }
    settings["SIMPLE_JWT"] = SIMPLE_JWT


SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(days=400),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=800),
    "ALGORITHM": "HS256",
    "AUDIENCE": "authservice",
    "AUTH_HEADER_TYPES": ("Bearer",),
    "BLACKLIST_AFTER_ROTATION": True,
    "CHECK_REVOKE_TOKEN": True,
    "ISSUER": "http://testserver",
    "JTI_CLAIM": "jti",
    "LEEWAY": 3600,
    "ROTATE_REFRESH_TOKENS": True,
    "TOKEN_TYPE_CLAIM": "typ",
    "UPDATE_LAST_LOGIN": True,
    "USER_ID_CLAIM": "sub",
}
