"""The login of Django admin by the rules of the API: counted, recorded, with the second factor.

Without it an attacker would try passwords here instead of at the API. Django admin has its own
sessions, so no tokens are issued and this login does not pass the one door.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from authservice.core.login import login
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import errors, events
from authservice.kernel.client import Client
from authservice.kernel.modules import plug
from authservice.kernel.secret import Secret

METHOD = "django_admin"


class CodeRequired(Exception):  # noqa: N818 not an error: the user has to enter a code too
    """The password is right, and the code of the second factor is missing."""


class SetUpRequired(Exception):  # noqa: N818 as above
    """The settings require a second factor, and the user has none."""


def log_in(
    name: str, password: Secret, code: Secret, client: Client, *, allow: Callable[[Any], None]
) -> Any:
    """The user with this name, password and, if they have a second factor, this code.

    `allow(user)` raises an exception of its own for a user who may not log in. Raises the refusals
    of `login.check_password`, `TwoFactorRefused`, `CodeRequired` and `SetUpRequired`.
    """
    field = "email" if host().natural == host().email else "username"
    person, attempt = login.check_password(password, client, method=METHOD, **{field: name})
    _require_allowed(person, client, allow)
    attempt.refund()
    _require_second_factor(person, code, client)
    events.record("auth.login.success", person, client, method=METHOD)
    return person.user


def _require_allowed(person: Person, client: Client, allow: Callable[[Any], None]) -> None:
    try:
        allow(person.user)
    except Exception:
        reason = "not_allowed" if person.active else "user_not_active"
        login.record_failure(person, client, reason, method=METHOD)
        raise


def _require_second_factor(person: Person, code: Secret, client: Client) -> None:
    second_factor = plug("second_factor")
    if second_factor is None:
        return
    if second_factor.is_enabled(person):
        if not code:
            events.record("auth.login.challenged", person, client, method=METHOD)
            raise CodeRequired
        _verify(second_factor, person, code, client)
    elif second_factor.is_required(person):
        login.record_failure(person, client, "second_factor_required", method=METHOD)
        raise SetUpRequired


def _verify(second_factor: Any, person: Person, code: Secret, client: Client) -> None:
    try:
        second_factor.verify(person, code, client)
    except errors.TwoFactorRefused:
        login.record_failure(person, client, "two_factor_invalid", method=METHOD)
        raise
