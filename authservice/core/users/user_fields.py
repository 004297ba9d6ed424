"""Further fields in responses about the signed-in user: `CORE.USER_FIELDS`.

Only users themselves see them. Lists of members, lists of users for staff, and invitations of
others never have them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models.manager import ManagerDescriptor

from authservice.core.conf import core
from authservice.core.users.reserved_fields import relations
from authservice.core.users.user_model import host


def paths() -> Mapping[str, str]:
    """The path of attributes for each name in responses. Raises `TypeError` for another type than
    a list of names or a dict."""
    given = core.user_fields
    if isinstance(given, list | tuple):
        given = {name: name for name in given}
    if not isinstance(given, Mapping):
        raise TypeError("CORE.USER_FIELDS must be a list of names, or a dict.")
    if not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise TypeError("CORE.USER_FIELDS must have names and paths that are strings.")
    return given


def value(user: Any, path: str) -> Any:
    """The value at a path such as `profile.city`; None if a relation on it leads to no row."""
    found = user
    for name in path.split("."):
        if found is None:
            return None
        try:
            found = getattr(found, name)
        except ObjectDoesNotExist:
            return None
    return found


def attribute(path: str) -> Any:
    """The field of a model at the end of a path, or what its class has of that name, such as a
    property; None beyond a property. Raises `AttributeError` if there is no such attribute, or for
    an attribute of several rows."""
    model, found = host().model, None
    *before, last = path.split(".")
    for name in (*before, last):
        if model is None:
            return None
        fields = {field.name: field for field in model._meta.fields}
        found = fields[name] if name in fields else inspect.getattr_static(model, name)
        relation = relations(model).get(name)
        if relation is None:
            model = None
            continue
        if name is not last and (relation.one_to_many or relation.many_to_many):
            raise AttributeError(name)
        model = relation.related_model
    return found


def is_method(found: Any) -> bool:
    """Whether an attribute is no value: calling it could change something."""
    kinds = (classmethod, staticmethod, type, ManagerDescriptor)
    return isinstance(found, kinds) or inspect.isroutine(found)
