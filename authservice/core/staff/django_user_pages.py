"""What staff do on Django's own pages of users: they delete users and set passwords. The last super
admin is kept, each deletion and each new password is recorded, and a mail notifies the owner of a
new password.

The host project registers these pages, and a list deletes outside of any transaction. All ways to
delete have two steps in common. First, Django admin asks, with the request, whether the account of
each user may be deleted too (`may_be_deleted`): this step notes the actor and the users. Second,
the deletion begins with the signal `pre_delete`, in its own transaction: this step locks the super
admins and records the deletion, so each deletion has an audit entry.

For a user without an account, Django admin does not ask. It writes its own log before it deletes,
so the actor, and all users of that deletion, are read from that log.

For a new password Django admin sends no signal. An entry of the same log names the actor and the
user. The log has no request, so a protected site passes the client in `acting_from`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.core.signals import request_finished
from django.db import transaction
from django.db.models.signals import post_save
from django.http import HttpRequest

from authservice.core import errors
from authservice.core.credentials import lockout, passwords
from authservice.core.sessions import sessions
from authservice.core.staff import authority, create_and_delete, super_admins, update_user
from authservice.core.staff.admin_pages import person_of
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import before_deletion, host
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.languages import admin_text as _

# Longest time between an entry of the log of Django admin and the deletion.
_LOG_AGE = timedelta(minutes=1)


@dataclass(eq=False)
class Deletion:
    """The users that one request will delete. `super_admins` are the active super admins when the
    request first asks."""

    by: Any
    client: Client
    super_admins: set[Any] = field(default_factory=set)
    pks: set[Any] = field(default_factory=set)


_leaving: ContextVar[Deletion | None] = ContextVar("authservice_leaving", default=None)
# A function that returns the client of the current request.
_client: ContextVar[Callable[[], Client]] = ContextVar("authservice_admin_client", default=Client)


def connect() -> None:
    before_deletion(_before_deletion, __name__)
    post_save.connect(_after_entry, sender=LogEntry, dispatch_uid=__name__)


# Users who are deleted


def may_be_deleted(pk: Any, request: HttpRequest, client: Client) -> bool:
    """Whether a super admin remains if this user is deleted together with all users that this
    request has asked about before."""
    attributes = request.__dict__
    if "_authservice_leaving" not in attributes:
        attributes["_authservice_leaving"] = Deletion(
            request.user, client, super_admins.active_super_admins()
        )
        _keep_until_answered(attributes["_authservice_leaving"])
    deletion: Deletion = attributes["_authservice_leaving"]
    deletion.pks.add(pk)
    return not deletion.super_admins or not deletion.super_admins <= deletion.pks


def _keep_until_answered(leaving: Deletion) -> None:
    """Keep the users to be deleted until the end of this request. The receiver is removed then, so
    other requests of the host project have no cost."""
    _leaving.set(leaving)
    uid = f"{__name__}.{id(leaving)}"

    def forget(**_: Any) -> None:
        if _leaving.get() is leaving:
            _leaving.set(None)
            request_finished.disconnect(dispatch_uid=uid)

    request_finished.connect(forget, weak=False, dispatch_uid=uid)


def _before_deletion(instance: Any, using: str, **kwargs: Any) -> None:
    if using != databases.primary():
        return
    deletion = _leaving.get()
    if deletion is None or instance.pk not in deletion.pks:
        deletion = _from_admin_log(instance, deletion)
    if deletion is None:
        return
    if not authority.may_change(deletion.by, person_of(instance)):
        raise PermissionDenied(_("Only a superuser may delete a super admin."))
    try:
        person = super_admins.lock_leaving(instance.pk, deletion.pks)
    except errors.LastSuperAdmin as error:
        raise PermissionDenied(error.text) from error
    super_admins.lock_against_references(instance.pk)
    if person is not None:
        create_and_delete.record_deletion(person, by=deletion.by, client=deletion.client)


def _from_admin_log(user: Any, deletion: Deletion | None) -> Deletion | None:
    """The deletion of a user without an account, from the log of Django admin; None if Django admin
    does not delete the user."""
    if hasattr(user, "authservice_account"):
        return None
    content_type = ContentType.objects.get_for_model(user, for_concrete_model=False)
    entries = LogEntry.objects.filter(
        content_type=content_type,
        action_flag=DELETION,
        action_time__gt=clock.now() - _LOG_AGE,
    )
    entry: Any = entries.filter(object_id=str(user.pk)).order_by("-pk").first()
    if entry is None:
        return None
    ids = entries.filter(user_id=entry.user_id).values_list("object_id", flat=True)
    pks = {user._meta.pk.to_python(text) for text in ids} | (deletion.pks if deletion else set())
    by = host().model._base_manager.using(databases.primary()).get(pk=entry.user_id)
    return Deletion(by, deletion.client if deletion else Client(), pks=pks)


# Passwords that staff set


@contextmanager
def acting_from(client: Callable[[], Client]) -> Iterator[None]:
    """Record passwords that are set in this block with the client that the function returns."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def _after_entry(instance: Any, created: bool, raw: bool = False, **_: Any) -> None:
    if not created or raw:
        return
    if instance.action_flag != CHANGE or instance.content_type_id is None:
        return
    model = ContentType.objects.get_for_id(instance.content_type_id).model_class()
    if model is None or not issubclass(model, host().model) or not _is_of_a_password(instance):
        return
    users = host().model._base_manager.using(databases.primary())
    user = users.filter(pk=instance.object_id).first()
    if user is not None:
        by = users.filter(pk=instance.user_id).first()
        _follow_password(lookup.get_person(user), by=by)


def _is_of_a_password(entry: Any) -> bool:
    try:
        parts = json.loads(entry.change_message)
        fields = [name for part in parts for name in part.get("changed", {}).get("fields", ())]
    except (ValueError, AttributeError, TypeError):
        return False  # the host project wrote the message as a text
    return "password" in fields


@clock.once
def _follow_password(person: Person, *, by: Any) -> None:
    """End all sessions, record the new password and notify the owner. The new password already
    invalidates every session; this marks the rows as ended too. Django keeps the session of staff
    who set their own password, so the token version, on which it depends, stays for them."""
    client = _client.get()()
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])
        if by is not None and by.pk == person.user.pk:
            sessions.end_others(person, None, sessions.CHANGED)
        else:
            sessions.end_all(person, sessions.CHANGED)
        lockout.revoke_devices(person)
        events.record_by_staff("auth.password.changed", by, person.user, client)
        update_user.send_notice(update_user.notified_address(person), person, ["password"], client)
