"""System checks of the host's user model: what it says, and what it requires of a new user."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.checks import CheckMessage, Tags, register
from django.db import connections

from authservice.core.conf import core
from authservice.core.models import Account
from authservice.core.users import host_fields, unfilled_columns
from authservice.core.users.user_model import host
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import declare, message
from authservice.kernel.databases import primary

declare(
    {
        "authservice.I081": (
            "is_active of the user model is no column: each request creates an instance of the"
            " user to ask it, and a list of users that is filtered by it reads the whole table.",
            "No action is needed if it reads columns of the user only.",
        ),
        "authservice.I082": (
            "The user model has no is_superuser: 'createsuperuser' makes no super admin of the"
            " API.",
            "Run 'manage.py authservice_super_admin USER' for the first one, or add a property"
            " is_superuser to the model.",
        ),
        "authservice.W083": (
            "No sign-up fills a required column of the user model, or any column of a unique"
            " constraint: the table refuses new users with 409 CONFLICT.",
            "Give one of the columns null=True, a default that differs for each user, or a field of"
            " CORE.SIGNUP_SERIALIZER that is required. If save() of the model, a receiver or a"
            " trigger fills it, silence the check.",
        ),
        "authservice.I084": (
            "The user model requires a value of each new user that the API describes as optional.",
            "No action is needed if your clients send it.",
        ),
        "authservice.W085": (
            "Columns of users have another character set than utf8mb4: a name with an emoji is 400"
            " VALIDATION_ERROR, and loses such characters if a provider sends it.",
            "Run 'ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4' for each table, and for the"
            " database 'ALTER DATABASE … CHARACTER SET utf8mb4'.",
        ),
        "authservice.W226": (
            "Fields in REQUIRED_FIELDS of the user model stay empty at a sign-up.",
            "Set CORE.SIGNUP_SERIALIZER to a serializer that requires them.",
        ),
    }
)


def connect() -> None:
    register(check_flags, "authservice")
    register(check_columns, "authservice")
    register(check_charsets, Tags.database)


def check_flags(**_: Any) -> Iterator[CheckMessage]:
    """Flags that the model has not as columns."""
    model, label = host().model, host().model._meta.label
    attribute = inspect.getattr_static(model, "is_active", None)
    # Django's base class has `is_active = True` for models without the column.
    default = inspect.getattr_static(AbstractBaseUser, "is_active")
    if not host().active and attribute is not default:
        text = (
            f"{label}.is_active is no column: each request creates an instance of the user to ask"
            " it, and a list of users that is filtered by it reads the whole table."
        )
        yield message("authservice.I081", text)
    if not host().superuser and not hasattr(model, "is_superuser"):
        text = f"{label} has no is_superuser: 'createsuperuser' makes no super admin of the API."
        yield message("authservice.I082", text)


def check_columns(**_: Any) -> Iterator[CheckMessage]:
    """Columns that no way to sign up fills, and those that a sign-up must have."""
    if list(kernel_settings.complaints()):
        return
    names = host()
    label, filled = names.model._meta.label, unfilled_columns.filled()
    empty = [name for name in names.model.REQUIRED_FIELDS if name not in filled]
    if empty and core.allow_signup:
        text = f"{label}.REQUIRED_FIELDS has {', '.join(empty)}, which stay empty at a sign-up."
        yield message("authservice.W226", text)
    for problem in unfilled_columns.problems():
        yield message("authservice.W083", f"{label}{problem}, and no sign-up fills it.")
    if names.username and not host_fields.made_up_length():
        text = (
            f"{label}.{names.username} is no free text, so no username is made up for it: a sign-up"
            " must have 'username', and magic links, providers and invitations create no accounts."
        )
        if host_fields.must_be_given(names.username):
            yield message("authservice.I084", text)
    if names.email != names.natural and host_fields.must_be_given(names.email):
        text = f"{label}.{names.email} is unique and not null: a sign-up must have 'email'."
        yield message("authservice.I084", text)


def check_charsets(databases: Collection[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Columns for texts of users that cannot store every character (MariaDB, MySQL)."""
    using = primary()
    if using not in (databases or ()) or connections[using].vendor != "mysql":
        return
    tables = {host().model._meta.db_table, Account._meta.db_table}
    ours = (field.column for field in (*host().model._meta.concrete_fields, *Account._meta.fields))
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name, character_set_name FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND character_set_name <> 'utf8mb4'"
        )
        rows = sorted(row for row in cursor.fetchall() if row[0] in tables)
    names = set(ours)
    narrow = [f"{table}.{column} ({charset})" for table, column, charset in rows if column in names]
    if narrow:
        text = f"Columns cannot store every character of a name: {', '.join(narrow)}."
        yield message("authservice.W085", text)
