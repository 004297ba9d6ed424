"""Fields that the host project must not use as further fields of its users.

If a further field of sign-up or profile reached one of them, users could make themselves staff, or
change their address without proving it. A further field of responses could show a secret.
"""

from __future__ import annotations

from typing import Any

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


@settings.cached_for_host
def reserved() -> frozenset[str]:
    """Names of fields that belong to this service or that this service writes."""
    known = host()
    key = known.model._meta.pk.name
    written = (known.email, known.username, known.first_name, known.last_name, known.active)
    accounts = {name for field in Account._meta.fields for name in (field.name, field.attname)}
    names = {*_RIGHTS, *_NAMES, *accounts, *written, known.natural, known.superuser, known.key, key}
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
    ours = config is not None and config.name.startswith("authservice.")
    return ours or model._meta.app_label in _SECRET_APPS


def relations(model: Any) -> dict[str, Any]:
    """The relations of a model, in both directions, by the names of its attributes."""
    found = {}
    for field in model._meta.get_fields(include_hidden=True):
        if field.is_relation and field.related_model:
            reverse = field.auto_created and not field.concrete
            name = field.get_accessor_name() if reverse else field.name
            found[name or field.name] = field
            if not reverse and hasattr(field, "attname"):
                found[field.attname] = field  # `user_id` has the value of `user`
    return found


def _is_user(model: Any) -> bool:
    return issubclass(model, host().model) or issubclass(host().model, model)
