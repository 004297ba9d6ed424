"""Passwords that staff set on Django's own page of a user: recorded, and mailed to the owner.

Django admin sends no signal for it, but writes its own log, which names the actor and the user. The
log has no request, so a protected site passes the client in `acting_from`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models.signals import post_save

from authservice.core.credentials import known_devices, passwords
from authservice.core.sessions import sessions
from authservice.core.staff import update_user
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client

_client: ContextVar[Callable[[], Client]] = ContextVar("authservice_admin_client", default=Client)


@contextmanager
def acting_from(client: Callable[[], Client]) -> Iterator[None]:
    """Record passwords that are set in this block with the client that the function returns."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def connect() -> None:
    uid = "authservice.core.staff.admin_password"
    post_save.connect(_after_entry, sender=LogEntry, dispatch_uid=uid)


def _after_entry(instance: Any, created: bool, raw: bool = False, **_: Any) -> None:
    if created and not raw and _is_of_a_user(instance) and _is_of_a_password(instance):
        users = host().model._base_manager.using(databases.primary())
        user = users.filter(pk=instance.object_id).first()
        if user is not None:
            _follow(lookup.get_person(user), by=users.filter(pk=instance.user_id).first())


def _is_of_a_user(entry: Any) -> bool:
    if entry.action_flag != CHANGE or entry.content_type_id is None:
        return False
    model = ContentType.objects.get_for_id(entry.content_type_id).model_class()
    return model is not None and issubclass(model, host().model)


def _is_of_a_password(entry: Any) -> bool:
    try:
        said = json.loads(entry.change_message)
        fields = [name for part in said for name in part.get("changed", {}).get("fields", ())]
    except (ValueError, AttributeError, TypeError):
        return False  # a text of the host project
    return "password" in fields


@clock.once
def _follow(person: Person, *, by: Any) -> None:
    """The new password invalidates every session by itself; this marks their rows too. Django keeps
    the session of staff who set their own, so the version that it depends on stays."""
    client = _client.get()()
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])
        if by is not None and by.pk == person.user.pk:
            sessions.end_others(person, None, sessions.CHANGED)
        else:
            sessions.end_all(person, sessions.CHANGED)
        known_devices.revoke_all(person)
        events.record_by_staff("auth.password.changed", by, person.user, client)
        update_user.send_notice(update_user.notified_address(person), person, ["password"], client)
