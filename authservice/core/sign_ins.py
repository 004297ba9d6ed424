"""A sign-in's life: begun at the door, continued by refreshing, ended by whoever may end it."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from authservice.core import access_tokens, directory, passwords, people, refresh_tokens
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel.ports import Client
from authservice.kernel.settings import root
from authservice.kernel.sql import Compiled, param

LOGOUT, REUSE = "logout", "reuse"


@dataclass(frozen=True)
class Tokens:
    """`expires_in` is the life of the access token in seconds."""

    access_token: str
    refresh_token: str
    expires_in: int


def _by_id() -> QuerySet[Any, Any]:
    names = [field.attname for field in SignIn._meta.concrete_fields]
    columns = people.columns(user="user__", account="user__authservice_account__")
    rows = SignIn.objects.filter(pk=param("id", SignIn._meta.pk)).order_by()
    return rows.values_list(*columns, *names)


_BY_ID = Compiled(_by_id)


def find(sign_in_id: uuid.UUID) -> tuple[Person, SignIn] | None:
    """A sign-in with its person, in one query, from the database that is written."""
    using = directory.database()
    row = _BY_ID.first(using, id=sign_in_id)
    if row is None:
        return None
    names = [field.attname for field in SignIn._meta.concrete_fields]
    return people.read(row, using), SignIn.from_db(using, names, row[people.width() :])


def holds(person: Person, sign_in: SignIn) -> bool:
    """Whether the sign-in still stands: not ended, its person active, nothing changed since.

    A password set by anybody, in a shell or by SQL, shows in its hash and ends it at once.
    """
    return (
        sign_in.ended_at is None
        and person.active
        and sign_in.token_version == person.account.token_version
        and passwords.still(sign_in.password_mark, person.user.password)
    )


def begin(person: Person, client: Client, *, amr: str, device_id: uuid.UUID) -> SignIn:
    """A new row; `amr` are the authentication methods (RFC 8176), separated by spaces."""
    now = timezone.now()
    sign_in = SignIn(
        user_id=person.user.pk,
        seed=secrets.token_hex(16),
        password_mark=passwords.mark(person.user.password),
        token_version=person.account.token_version,
        amr=amr,
        auth_time=now,
        device_id=device_id,
        user_agent=client.user_agent,
        ip_address=client.address,
        created_at=now,
        refreshed_at=now,
        last_used_at=now,
        idle_expires_at=now + root.refresh_token_ttl,
        expires_at=now + root.session_ttl,
    )
    sign_in.save(using=directory.database(), force_insert=True)
    return sign_in


def tokens(person: Person, sign_in: SignIn) -> Tokens:
    """A fresh access token and the live refresh token of the sign-in."""
    access_token, seconds = access_tokens.issue(person, sign_in)
    refresh_token = refresh_tokens.derive(sign_in.pk, sign_in.counter, sign_in.seed)
    return Tokens(access_token, refresh_token, seconds)


def live(now: datetime) -> Q:
    """What an UPDATE asks of a row before it may go on."""
    return Q(ended_at=None, idle_expires_at__gt=now, expires_at__gt=now)


def end(sign_in_id: uuid.UUID, reason: str) -> bool:
    """End one sign-in and all its tokens; False if it had ended already."""
    rows = SignIn.objects.using(directory.database()).filter(pk=sign_in_id, ended_at=None)
    return bool(rows.update(ended_at=timezone.now(), end_reason=reason))
