"""Columns of the host's user model that no sign-up fills, and why the table refuses users without
them: for the system checks.

Each new user has the same value there: the default, "" or NULL. A unique constraint whose columns
are all of this kind refuses every user but the first, unless one of the values is NULL. In doubt a
constraint is left out, so that a project with a rule of its own gets no false warning.

System checks of what the host project says about users: its model and what that requires of a
new user, extra fields, which must not be ours or secret, and password validators.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import get_default_password_validators
from django.core.checks import CheckMessage, Tags, register
from django.core.exceptions import FieldDoesNotExist
from django.db import connections
from django.db.models import F, OrderBy, UniqueConstraint, Value
from django.db.models.expressions import BaseExpression
from django.db.models.fields import NOT_PROVIDED
from django.db.models.functions import Cast, Coalesce, Collate, Concat, Lower

from authservice.core.conf import core
from authservice.core.credentials import password_filter
from authservice.core.credentials.password_rules import NotBreached, NotCommon
from authservice.core.models import Account
from authservice.core.users import extra_fields, host_fields, user_fields
from authservice.core.users.user_model import host
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import declare, message
from authservice.kernel.databases import primary
from authservice.kernel.message_queue import can_mail
from authservice.kernel.outbound import Refused

_SAME = "is unique and would have the same value for each new user"
# These and the functions for texts return NULL only for NULL, unlike `NullIf` or `Case`.
_STRICT = (Cast, Collate, OrderBy)


def unfilled_columns() -> list[str]:
    """Each column or constraint, with the reason for which the table refuses users."""
    return list(dict.fromkeys([*_of_columns(), *_of_constraints()]))


def filled_by_signup() -> set[str]:
    """The names of the columns that sign-ups fill."""
    names = host()
    own_columns = {names.email, names.username, names.natural, names.first_name, names.last_name}
    key = names.model._meta.pk.name
    # The first login, mostly right after the sign-up, stores its time.
    return {*own_columns, key, "password", "last_login", *extra_fields.filled_columns()}


def _of_columns() -> Iterator[str]:
    for field in host().model._meta.concrete_fields:
        if not _is_same(F(field.name)):
            continue
        if field.unique and _has_value(F(field.name)):
            yield f".{field.name} {_SAME}"
        elif not (field.null or field.generated or _has_value(F(field.name))):
            yield f".{field.name} is required"


def _of_constraints() -> Iterator[str]:
    model = host().model
    for options in (model._meta, *(parent._meta for parent in model._meta.all_parents)):
        for names in options.unique_together:
            if _collides([F(name) for name in names]):
                yield f": unique_together of {', '.join(names)} {_SAME}"
        for constraint in options.constraints:
            if not isinstance(constraint, UniqueConstraint) or not _refuses(constraint):
                continue
            single = len(constraint.fields) == 1
            subject = f".{constraint.fields[0]}" if single else f": constraint {constraint.name}"
            yield f"{subject} {_SAME}"


def _refuses(constraint: Any) -> bool:
    """Whether the constraint refuses each new user but the first one.

    A condition is left out: only the database can evaluate it. A deferrable constraint refuses the
    user too, with the commit.
    """
    vendor = connections[primary()].vendor
    # Django omits a constraint with an option that the database does not have.
    options = (constraint.deferrable, constraint.nulls_distinct, constraint.include or None)
    if vendor != "postgresql" and any(option is not None for option in options):
        return False
    # MySQL has constraints of expressions, MariaDB has none, and the vendor of both is the same.
    if constraint.condition is not None or (constraint.expressions and vendor == "mysql"):
        return False
    expressions = [F(name) for name in constraint.fields] or constraint.expressions
    return _collides(expressions, nulls_distinct=constraint.nulls_distinct is not False)


def _collides(expressions: Sequence[Any], *, nulls_distinct: bool = True) -> bool:
    """Whether the table cannot hold two new users, whose expressions all have the same values."""
    if not all(map(_is_same, expressions)):
        return False
    return not nulls_distinct or all(map(_has_value, expressions))


def _is_same(expression: Any) -> bool:
    """Whether the expression has the same value for each new user, or NULL. False if in doubt."""
    if isinstance(expression, Value):
        return True
    if not isinstance(expression, F):
        sources = _sources(expression)  # a function without any, such as Now, may return anything
        return bool(sources) and all(map(_is_same, sources))
    field = _column(expression)
    if field is None or field.primary_key or field.name in filled_by_signup():
        return False
    # The values differ if the field makes up its value, such as a slug from another field: then
    # `pre_save` is not that of a field of Django. They also differ if Django fills the column: a
    # parent link, or `auto_now`.
    flags = ("auto_now", "auto_now_add")
    is_parent_link = getattr(field.remote_field, "parent_link", False)
    is_of_django = type(field).pre_save.__module__.startswith("django.db.models.")
    if is_parent_link or not is_of_django or any(getattr(field, flag, 0) for flag in flags):
        return False
    if field.generated:
        return _is_same(field.expression)
    if field.has_default():
        return not callable(field.default)
    return isinstance(field.db_default, Value) or not isinstance(field.db_default, BaseExpression)


def _has_value(expression: Any) -> bool:
    """Whether the expression, which is the same for each new user, is not NULL. False if in
    doubt."""
    if isinstance(expression, Value):
        return expression.value is not None
    if isinstance(expression, F):
        field = _column(expression)
        if field is None or _has_transform(expression):
            return False
        if field.generated:
            return _has_value(field.expression)
        if field.has_default() or field.db_default is NOT_PROVIDED:
            # Django gives a text without a default the value "".
            return field.get_default() is not None
        constant = field.db_default
        return (constant.value if isinstance(constant, Value) else constant) is not None
    sources = _sources(expression)
    if isinstance(expression, Coalesce):
        return any(map(_has_value, sources))
    is_for_text = type(expression).__module__ == Lower.__module__
    is_strict = is_for_text or isinstance(expression, _STRICT)
    return isinstance(expression, Concat) or (is_strict and all(map(_has_value, sources)))


def _sources(expression: Any) -> list[Any]:
    if not isinstance(expression, BaseExpression):
        return []  # such as a Q, of which nothing is known
    return [source for source in expression.get_source_expressions() if source is not None]


def _column(reference: Any) -> Any:
    """The field that an `F` names, None if there is none."""
    try:
        return host().model._meta.get_field(reference.name.split("__")[0])
    except FieldDoesNotExist:
        return None  # such as "pk"


def _has_transform(reference: Any) -> bool:
    """Whether the `F` names a part of the column, such as a key in JSON, which may be NULL where
    the column is not."""
    return "__" in reference.name


declare(
    {
        "authservice.E053": (
            "The filter file of NotCommon cannot be used: no password is compared with common"
            " ones.",
            "Build the file with 'manage.py authservice_password_filter LIST --output FILE', and"
            " name it: {'NAME': 'authservice.validators.NotCommon', 'OPTIONS': {'filter': FILE}}.",
        ),
        "authservice.E054": (
            "AUTH_PASSWORD_VALIDATORS cannot be loaded: every new password ends in an error.",
            "Correct NAME and OPTIONS of the entry.",
        ),
        "authservice.E055": (
            "The URL of NotBreached is refused: no password is compared with breached ones.",
            "Use an https URL, or name the host in OUTBOUND.INSECURE_HOSTS.",
        ),
        "authservice.W056": (
            'CORE.PASSWORD_RECHECK is "change", and no installed app sends e-mails: users without'
            " a phone number that may reset the password log in with an unsafe one.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        ),
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
        "authservice.E222": (
            "CORE.SIGNUP_SERIALIZER or CORE.PROFILE_SERIALIZER is not a serializer that can be"
            " used, so each sign-up or change of a profile fails.",
            "Use a ModelSerializer of the user model, or a Serializer with update(user, values).",
        ),
        "authservice.E223": (
            "A serializer in CORE has a field that is a right, an identifier or a credential of"
            " users, or a field of authservice: clients could change it.",
            "List the fields in Meta.fields, without this one. If only the name is taken, use"
            " another.",
        ),
        "authservice.E224": (
            "CORE.USER_FIELDS shows a field that is secret, that authservice shows itself, or that"
            " does not exist.",
            "Use names of fields and properties of the user model, and paths such as"
            " 'profile.city'.",
        ),
        "authservice.E225": (
            "A serializer in CORE accepts fields that are not columns of the user model, and does"
            " not store them.",
            "Add a method update(self, user, validated_data) that stores them and returns the"
            " user.",
        ),
        "authservice.W226": (
            "Fields in REQUIRED_FIELDS of the user model stay empty at a sign-up.",
            "Set CORE.SIGNUP_SERIALIZER to a serializer that requires them.",
        ),
    }
)
declare(
    {
        "authservice.W085": (
            "Columns of users have another character set than utf8mb4: a name with an emoji is 400"
            " VALIDATION_ERROR, and loses such characters if a provider sends it.",
            "Run 'ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4' for each table, and for the"
            " database 'ALTER DATABASE … CHARACTER SET utf8mb4'.",
        ),
    },
    area="database",
)


SERIALIZERS = ("signup_serializer", "profile_serializer")


def connect() -> None:
    register(check_flags, "authservice")
    register(check_columns, "authservice")
    register(check_fields, "authservice")
    register(check_validators, "authservice")
    register(check_charsets, Tags.database)


def check_flags(**_: Any) -> Iterator[CheckMessage]:
    """Flags of users that are not columns of the user model."""
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
    """Columns that no way to sign up fills, and those of which each sign-up must send a value."""
    if list(kernel_settings.complaints()):
        return
    names = host()
    label, filled = names.model._meta.label, filled_by_signup()
    empty = [name for name in names.model.REQUIRED_FIELDS if name not in filled]
    if empty and core.allow_signup:
        text = f"{label}.REQUIRED_FIELDS has {', '.join(empty)}, which stay empty at a sign-up."
        yield message("authservice.W226", text)
    for problem in unfilled_columns():
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
    columns = (
        field.column for field in (*host().model._meta.concrete_fields, *Account._meta.fields)
    )
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name, character_set_name FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND character_set_name <> 'utf8mb4'"
        )
        rows = sorted(row for row in cursor.fetchall() if row[0] in tables)
    names = set(columns)
    narrow = [f"{table}.{column} ({charset})" for table, column, charset in rows if column in names]
    if narrow:
        text = f"Columns cannot store every character of a name: {', '.join(narrow)}."
        yield message("authservice.W085", text)


def check_fields(**_: Any) -> Iterator[CheckMessage]:
    """Extra fields that a project adds, which must not be ours or secret."""
    if list(kernel_settings.complaints()):
        return
    for setting in SERIALIZERS:
        path = getattr(core, setting)
        if path:
            yield from _serializer(f"CORE.{setting.upper()}", path)
    try:
        paths = user_fields.paths()
    except TypeError as error:
        yield message("authservice.E224", str(error))
        return
    for name, path in paths.items():
        complaint = _complaint(name, path)
        if complaint:
            yield message("authservice.E224", f"CORE.USER_FIELDS[{name!r}]: {complaint}.")


def _serializer(setting: str, path: str) -> Iterator[CheckMessage]:
    try:
        schema = extra_fields.load(path)
    except ImportError:
        return  # another check reports it: authservice.E006
    except TypeError as error:
        yield message("authservice.E222", f"{setting} is {path!r}, which {error}.")
        return
    if extra_fields.is_open(schema):
        text = f"{setting} does not list its fields: Meta has fields='__all__' or exclude."
        yield message("authservice.E223", text)
        return
    for name, complaint in extra_fields.complaints(schema):
        yield message("authservice.E223", f"{setting} has the field {name!r}: {complaint}.")
    not_stored = extra_fields.not_stored(schema)
    if not_stored:
        yield message("authservice.E225", f"{setting} stores nowhere: {', '.join(not_stored)}.")


def _complaint(name: str, path: str) -> str:
    """Why responses must not show the value at `path` under `name`; empty if they may."""
    if name in user_fields.reserved():
        return f"{name!r} is the name of a field of authservice"
    if complaint := user_fields.complaint(path):
        return complaint
    try:
        attribute = user_fields.attribute(path)
    except AttributeError:
        return f"{path!r} is no field or property of {host().model._meta.label}"
    return f"{path!r} is a method" if user_fields.is_method(attribute) else ""


def check_validators(**_: Any) -> Iterator[CheckMessage]:
    """Validators that would refuse nothing or end every sign-up in an error, and a recheck of
    passwords without e-mails to change them."""
    if list(kernel_settings.complaints()):
        return
    try:
        validators = get_default_password_validators()
    except Exception as error:  # a validator of the project may raise any error
        yield message("authservice.E054", f"AUTH_PASSWORD_VALIDATORS cannot be loaded: {error}.")
        return
    for validator in validators:
        if isinstance(validator, NotCommon):
            try:
                password_filter.current(validator.path).verify()
            except password_filter.InvalidFilter as error:
                yield message(
                    "authservice.E053", f"The filter of NotCommon cannot be used: {error}"
                )
        if isinstance(validator, NotBreached):
            from authservice.kernel.outbound import http_client  # see password_rules.py

            try:
                http_client.target_of(validator.url)
            except Refused as error:
                yield message("authservice.E055", f"The URL of NotBreached is refused: {error}")
    mode = core.password_recheck
    if mode == "change" and not can_mail():
        yield message("authservice.W056")
