"""Fields of users that the host project names in its settings, and those that it must not name.

If an extra field of sign-up or profile reached one of the forbidden fields, users could make
themselves staff, or change their address without proving it. An extra field of responses could
show a secret.

`CORE.USER_FIELDS` are extra fields in responses about the signed-in user. Only users themselves
see them. Lists of members, lists of users for staff, and invitations of others never have them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models.manager import ManagerDescriptor

from authservice.core.conf import core
from authservice.core.models import Account
from authservice.core.users.user_model import host
from authservice.kernel import settings

# Rights and credentials, whether or not the user model has them.
_RIGHTS = (
    *("password", "is_active", "is_staff", "is_superuser", "is_super_admin"),
    *("groups", "user_permissions", "last_login"),
)
# Names in requests and responses about a user.
_NAMES = (
    *("id", "pk", "email", "username", "name", "first_name", "last_name", "avatar"),
    *("phone", "phone_number", "active", "email_verified", "phone_number_verified"),
    *("created_at", "updated_at", "last_login_at", "token_version"),
)
# Apps whose tables have secrets of users: tokens, seeds, codes. They may be installed beside ours.
_SECRET_APPS = frozenset(
    (
        *("authtoken", "token_blacklist", "knox", "oauth2_provider", "social_django"),
        *("socialaccount", "mfa", "otp_totp", "otp_static", "otp_email", "two_factor", "sessions"),
    )
)


def paths() -> Mapping[str, str]:
    """The path of attributes for each name in responses. Raises `TypeError` for another type than
    a list of names or a dict."""
    configured = core.user_fields
    if isinstance(configured, list | tuple):
        configured = {name: name for name in configured}
    if not isinstance(configured, Mapping):
        raise TypeError("CORE.USER_FIELDS must be a list of names, or a dict.")
    if not all(isinstance(text, str) for pair in configured.items() for text in pair):
        raise TypeError("CORE.USER_FIELDS must have names and paths that are strings.")
    return configured


def value(user: Any, path: str) -> Any:
    """The value at a path such as `profile.city`; None if a relation on it leads to no row."""
    current = user
    for name in path.split("."):
        if current is None:
            return None
        try:
            current = getattr(current, name)
        except ObjectDoesNotExist:
            return None
    return current


def attribute(path: str) -> Any:
    """The field of a model at the end of a path, or what its class has of that name, such as a
    property; None beyond a property. Raises `AttributeError` if there is no such attribute, or if
    a relation before the end of the path leads to several rows."""
    model, member = host().model, None
    names = path.split(".")
    for place, name in enumerate(names, start=1):
        if model is None:
            return None
        fields = {field.name: field for field in model._meta.fields}
        member = fields[name] if name in fields else inspect.getattr_static(model, name)
        relation = relations(model).get(name)
        if relation is None:
            model = None
            continue
        if place < len(names) and (relation.one_to_many or relation.many_to_many):
            raise AttributeError(name)
        model = relation.related_model
    return member


def is_method(member: Any) -> bool:
    """Whether an attribute is no value: calling it could change something."""
    kinds = (classmethod, staticmethod, type, ManagerDescriptor)
    return isinstance(member, kinds) or inspect.isroutine(member)


@settings.cached_for_host
def reserved() -> frozenset[str]:
    """Names of fields that belong to this service or that this service writes."""
    fields = host()
    key = fields.model._meta.pk.name
    written = (fields.email, fields.username, fields.first_name, fields.last_name, fields.active)
    accounts = {name for field in Account._meta.fields for name in (field.name, field.attname)}
    names = {
        *_RIGHTS,
        *_NAMES,
        *accounts,
        *written,
        fields.natural,
        fields.superuser,
        fields.key,
        key,
    }
    return frozenset(names - {""})


def complaint(path: str) -> str:
    """Why a path of attributes from the user, such as `profile.city`, must not be used; empty if it
    may be used. A path may lead through relations, also back to a user."""
    model = host().model
    for name in path.split("."):
        if not name.isidentifier() or name.startswith("_"):
            return f"{name!r} is not the name of a public field"
        if model is None:
            return ""  # beyond a property, of which nothing is known
        if _is_user(model) and name in reserved():
            return f"{name!r} is a field that belongs to authservice or that it writes"
        relation = relations(model).get(name)
        model = relation.related_model if relation else None
        if model is not None and is_secret(model):
            return f"{name!r} leads to the table {model._meta.label}, which has secrets"
    if "." in path and model is not None and _is_user(model):
        return f"{path!r} decides which user a row belongs to"
    return ""


def is_secret(model: Any) -> bool:
    """Whether the table of this model belongs to this service, or to one that stores secrets."""
    config = model._meta.app_config
    is_own = config is not None and config.name.startswith("authservice.")
    return is_own or model._meta.app_label in _SECRET_APPS


def relations(model: Any) -> dict[str, Any]:
    """The relations of a model, in both directions, by the names of its attributes."""
    by_name = {}
    for field in model._meta.get_fields(include_hidden=True):
        if field.is_relation and field.related_model:
            reverse = field.auto_created and not field.concrete
            name = field.get_accessor_name() if reverse else field.name
            by_name[name or field.name] = field
            if not reverse and hasattr(field, "attname"):
                by_name[field.attname] = field  # `user_id` has the value of `user`
    return by_name


def _is_user(model: Any) -> bool:
    return issubclass(model, host().model) or issubclass(host().model, model)
