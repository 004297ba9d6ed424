"""Users of the project, by its natural key."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model

from tests.support.client import PASSWORD

NAMES = {
    "number": "4711",
    "code": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
    "phone": "+4930123456",
    "email": "ann@example.com",
    "rank": "chief",
}
NATURAL = get_user_model().USERNAME_FIELD
NAME = NAMES[NATURAL]


def make_user(**fields: Any) -> Any:
    user = get_user_model()(**{NATURAL: NAME, "email": "ann@example.com", **fields})
    user.set_password(PASSWORD)
    user.save()
    return user


def log_in(api: Any, name: str = NAME) -> Any:
    kind = "email" if NATURAL == "email" else "username"
    return api.post("login", **{kind: name, "password": PASSWORD})
