"""The shapes of the API responses, as exact sets of keys and types."""

from __future__ import annotations

import re
from typing import Any

from django.apps import apps

from tests.support.client import Answer

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")
OPAQUE = re.compile(r"[\w-]+")

TOKENS = {"access_token": JWT, "refresh_token": OPAQUE, "expires_in": int}
USER = {
    "id": str,
    "email": str,
    "name": str,
    "first_name": str,
    "last_name": str,
    "username": str,
    "avatar": str,
    "phone_number": str,
    "active": bool,
    "email_verified": bool,
    "phone_number_verified": bool,
    "created_at": MOMENT,
    "updated_at": (MOMENT, None),
    "last_login_at": (MOMENT, None),
}
ADMIN_USER = {**USER, "is_super_admin": bool, "token_version": int}
AUTH = {**TOKENS, "status": re.compile("signed_in"), "user": USER, "message": str}
if apps.is_installed("authservice.organization"):
    AUTH["data"] = {"organizations": list, "active_organization": None}
UNVERIFIED = {"status": re.compile("verification_required"), "user": USER, "message": str}
REFRESHED = {**TOKENS, "message": str}


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has exactly the keys and types of a shape."""
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, dict):
        return (
            isinstance(value, dict)
            and set(value) == set(shape)
            and all(fits(value[key], shape[key]) for key in shape)
        )
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    return value is None if shape is None else type(value) is shape


def is_refusal(answer: Answer, status: int, code: str) -> bool:
    """Whether a response is exactly the error envelope with this status and code."""
    message = answer.data["message"]
    return (
        answer.status == status
        and answer.body == {"data": {"code": code, "message": message}, "message": message}
        and isinstance(message, str)
        and bool(message)
        and answer.headers["Content-Type"] == "application/json"
        and answer.headers["Cache-Control"] == "no-store, private"
    )
