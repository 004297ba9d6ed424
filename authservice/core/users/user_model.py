"""The fields of the host's user model: which of our fields the host's model has itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist

from authservice.kernel import settings


@dataclass(frozen=True)
class Host:
    """Names of the host's fields, "" if its model has no such field."""

    model: Any
    key: str
    natural: str
    email: str
    username: str
    first_name: str
    last_name: str
    active: str
    superuser: str
    joined: str


@settings.cached_for_host
def host() -> Host:
    model: Any = get_user_model()
    natural = model.USERNAME_FIELD
    email = _present(model, model.get_email_field_name())
    username = _present(model, "username") or ("" if natural == email else natural)
    return Host(
        model=model,
        key=model._meta.pk.attname,
        natural=natural,
        email=email,
        username=username,
        first_name=_present(model, "first_name"),
        last_name=_present(model, "last_name"),
        active=_present(model, "is_active"),
        superuser=_present(model, "is_superuser"),
        joined=_present(model, "date_joined"),
    )


def _present(model: Any, name: str) -> str:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return ""
    return name if getattr(field, "concrete", False) else ""
