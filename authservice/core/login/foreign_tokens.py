"""Refresh tokens of another package: traded once for a session here, so that a project can move
without its users logging in again.

The session continues the one that the old token belongs to. This is not a login: no credential is
checked, `last_login` stays, and no signal of a login is sent. So its `amr` is `legacy`, which
counts neither as a recent login nor as a second factor.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction

from authservice.core.credentials import lockout, passwords
from authservice.core.login import login
from authservice.core.models import Session
from authservice.core.sessions import rotation, sessions
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import ForeignTokens
from authservice.kernel.levels import LEGACY
from authservice.kernel.modules import plug
from authservice.kernel.secret import Secret


def refresh(text: Secret, client: Client) -> Tokens:
    """New tokens for a refresh token of ours, or for one of another package that can be traded.

    Raises `InvalidRefreshToken`, `TooManyRequests`, or the errors of the login policy.
    """
    foreign_tokens = plug(ForeignTokens)
    if foreign_tokens is not None and is_foreign(text):
        traded: Tokens = foreign_tokens.trade(text, client)
        return traded
    return rotation.refresh(text, client)


def is_foreign(text: Secret) -> bool:
    """Whether the token has the form of another package: our tokens are base64url without a dot,
    those of packages that issue JWTs have two dots."""
    return "." in text.reveal()


def continue_session(
    pk: Any,
    client: Client,
    *,
    session_id: uuid.UUID,
    began: datetime,
    use: Callable[[Person], bool],
) -> Tokens | None:
    """Start the session that continues one of another package; `began` is its `auth_time`.

    `use` marks the old token of the user as used, in the transaction of the new session. If it
    returns False or the session `session_id` exists, the token was used, and the result is None.
    Raises `InvalidRefreshToken` if the user must log in again, or the errors of the login policy.
    """
    with transaction.atomic(using=databases.primary()):
        # A concurrent change that ends all sessions, such as of the password, has committed before
        # this lock and has revoked the token, or waits for it and then ends the new session.
        passwords.lock_users([pk])
        users = host().model._base_manager.using(databases.primary())
        user = users.filter(pk=pk).first()
        person = lookup.get_person(user) if user is not None else None
        # Users with rights over others log in again: the old package may have required less for
        # their login than this service. So do users who may not log in at all.
        if person is None or person.has_rights or login.login_refusal(person) is not None:
            raise errors.InvalidRefreshToken
        # If somebody has deleted the mark of a used token, `use` returns True, but its session
        # exists.
        existing = Session.objects.using(databases.primary()).filter(pk=session_id)
        if not use(person) or existing.exists():
            return None
        session = sessions.begin(
            person,
            client,
            amr=LEGACY,
            device_id=lockout.find_device(client.device, person) or uuid.uuid4(),
            session_id=session_id,
            auth_time=began,
        )
        sessions.insertion(session).run()
        events.record("auth.token.traded", person, client, session=str(session_id))
        return sessions.issue_tokens(person, session)
