"""The login of Django admin by the rules of the API: counted, recorded, with the second factor.

Without these rules an attacker would try passwords here instead of at the API. Django admin has its
own sessions, so this login issues no tokens and does not call `login.enter`.

A session of Django admin stores the versions of the account that the login has read. The session
has ended once they differ from those of the account: since then, all sessions of the user have
ended, or a second factor was enabled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest

from authservice.core import errors
from authservice.core.login import login, password_recheck
from authservice.core.models import Account
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

METHOD = "django_admin"
# Key of a session and of a user who logs in: the versions at the login. Key of a request: the
# current versions.
_VERSIONS = "_authservice_versions"
# The versions of an account whose sessions never all ended, and of a user without an account.
_FIRST = [0, 0]


class CodeRequired(Exception):  # noqa: N818 not an error: the user has to enter a code too
    """The password is right, and the code of the second factor is missing."""


class SetUpRequired(Exception):  # noqa: N818 not an error: the user has to set up a factor
    """The settings require a second factor, and the user has none."""


class PasskeyRequired(Exception):  # noqa: N818 not an error: the user has to log in elsewhere
    """No second factor of the user is a code: this login cannot ask for a passkey."""


@clock.once
def log_in(
    name: str, password: Secret, code: Secret, client: Client, *, allow: Callable[[Any], None]
) -> Any:
    """The user with this name, password and, if they have a second factor, this code.

    `allow(user)` raises an exception of its own for a user who may not log in. Raises the errors of
    `login.checked_password`, `TwoFactorRefused`, `CodeRequired`, `PasskeyRequired`,
    `SetUpRequired` and `PasswordChangeRequired`.
    """
    field = "email" if host().natural == host().email else "username"
    typed = {field: name}
    with login.checked_password(password, client, method=METHOD, **typed) as (person, attempt):
        try:
            allow(person.user)
        except Exception:
            reason = "not_allowed" if person.active else "user_not_active"
            login.record_failure(person, client, reason, method=METHOD)
            raise
        attempt.refund()  # the password is right; wrong codes have counters of their own
    _require_second_factor(person, code, client)
    password_recheck.require_safe(person, password, client, method=METHOD)
    events.record("auth.login.success", person, client, method=METHOD)
    # The versions were read with the password, before the factor was checked. If a factor was
    # enabled since, the versions differ, and the session of this login has ended when it begins.
    person.user.__dict__[_VERSIONS] = [person.token_version, person.factor_version]
    return person.user


def connect() -> None:
    """From now on, store the versions in the session of every login with Django's `login`."""
    user_logged_in.connect(_store_versions, dispatch_uid="authservice_admin_login")


def _store_versions(sender: Any, request: Any, user: Any, **_: Any) -> None:
    """Store the versions in the session of a login with Django's `login`.

    A login of the API, and a token of another package such as django-rest-knox, send the signal
    too. They are ignored: they would make an ended session of the same browser valid again, without
    a password or without the second factor.
    """
    # A login of the API does not set the user of the request; Django's `login` does.
    is_of_request = getattr(request, "user", user) is user
    # The REST framework sets the user of its own requests for a token as well. Only a login also
    # changes the session.
    changed_session = getattr(getattr(request, "session", None), "modified", False)
    by_login = isinstance(request, HttpRequest) or changed_session
    if is_of_request and by_login and _user_of_session(request) == user.pk:
        versions_at_login = user.__dict__.pop(_VERSIONS, None)
        request.session[_VERSIONS] = versions_at_login or _current_versions(user.pk)


def store_versions(request: Any, person: Person) -> None:
    """Store the versions for a session of this service that Django's session carries. They tell
    Django admin that the session is not older than the last end of all sessions of the user."""
    request.session[_VERSIONS] = [person.token_version, person.factor_version]


def stores_versions(request: Any) -> bool:
    """Whether Django's session has versions: it then began after `connect`."""
    return _VERSIONS in getattr(request, "session", ())


def has_ended(request: Any) -> bool:
    """Whether Django's session of this request has ended.

    The user of the session counts: a middleware of the project may have set another user of the
    request. Without a user in the session, for example behind a proxy that authenticates, there is
    nothing to end.

    A session without versions began before an upgrade, or in a process that does not protect a
    site. It may be older than an end of all sessions of the user, so it has ended if there ever was
    such an end. The check costs one query for each request.
    """
    pk = _user_of_session(request)
    if pk is None:
        return False
    if not hasattr(request, _VERSIONS):
        setattr(request, _VERSIONS, _current_versions(pk))
    return bool(request.session.get(_VERSIONS, _FIRST) != getattr(request, _VERSIONS))


def _user_of_session(request: Any) -> Any:
    """The primary key of the user of Django's session, or None."""
    key = getattr(request, "session", {}).get(SESSION_KEY)
    return None if key is None else host().model._meta.pk.to_python(key)


def _current_versions(pk: Any) -> list[int]:
    rows = Account.objects.filter(user=pk).values_list("token_version", "factor_version")
    return list(rows.first() or _FIRST)


def _require_second_factor(person: Person, code: Secret, client: Client) -> None:
    factors = plugs(SecondFactor)
    enabled = {factor.method: factor for factor in factors if factor.is_enabled(person)}
    if by_code := enabled.get(SecondFactor.method):
        if not code:
            events.record("auth.login.challenged", person, client, method=METHOD)
            raise CodeRequired
        try:
            by_code.verify(person, code, client)
        except errors.TwoFactorRefused:
            login.record_failure(person, client, "two_factor_invalid", method=METHOD)
            raise
    elif enabled:
        login.record_failure(person, client, "passkey_required", method=METHOD)
        raise PasskeyRequired
    elif any(factor.is_required(person) for factor in factors):
        login.record_failure(person, client, "second_factor_required", method=METHOD)
        raise SetUpRequired
