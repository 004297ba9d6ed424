"""Users deleted by staff in Django admin: the last super admin is kept, each deletion is recorded.

The page is the host's own, and a list deletes outside of any transaction. All ways to delete have
two steps in common: admin asks, with the request, whether each account may be deleted too, and the
deletion begins with a signal in its own transaction. The first step notes the actor and the users;
the second locks the super admins and records the deletion, so each deletion has an audit entry.

For a user without an account, admin does not ask. It writes its own log before it deletes, so the
actor, and all users of that deletion, are read from that log.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.core.signals import request_finished
from django.db.models.signals import pre_delete
from django.http import HttpRequest

from authservice.core import errors
from authservice.core.staff import authority, delete_user, super_admins
from authservice.core.staff.admin_pages import person_of
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases
from authservice.kernel.client import Client
from authservice.kernel.phrases import admin_text as _

# Longest time between an entry of admin's log and the deletion.
_LOG_AGE = timedelta(minutes=1)


@dataclass(eq=False)
class Deletion:
    """The users that one request will delete; `super_admins` are the super admins when it first
    asked."""

    by: Any
    client: Client
    super_admins: set[Any] = field(default_factory=set)
    pks: set[Any] = field(default_factory=set)


_leaving: ContextVar[Deletion | None] = ContextVar("authservice_leaving", default=None)


def connect() -> None:
    """Connect to the models of users only: Django loads each row of a model with a receiver before
    it deletes it, instead of deleting all with one statement."""
    users = host().model._meta.concrete_model
    for model in apps.get_models():
        if model._meta.concrete_model is users:
            uid = f"authservice.core.staff.admin_deletion.{model._meta.label}"
            pre_delete.connect(_before, sender=model, dispatch_uid=uid)


def may_be_deleted(pk: Any, request: HttpRequest, client: Client) -> bool:
    """Whether a super admin remains without this user and those that this request has asked
    about."""
    kept = request.__dict__
    if "_authservice_leaving" not in kept:
        kept["_authservice_leaving"] = Deletion(
            request.user, client, super_admins.active_super_admins()
        )
        _keep_until_answered(kept["_authservice_leaving"])
    leaving: Deletion = kept["_authservice_leaving"]
    leaving.pks.add(pk)
    return not leaving.super_admins or not leaving.super_admins <= leaving.pks


def _keep_until_answered(leaving: Deletion) -> None:
    """Keep the users to be deleted until the end of this request. The receiver is removed with it,
    so other requests of the host have no cost."""
    _leaving.set(leaving)
    uid = f"authservice.core.staff.admin_deletion.{id(leaving)}"

    def forget(**_: Any) -> None:
        if _leaving.get() is leaving:
            _leaving.set(None)
            request_finished.disconnect(dispatch_uid=uid)

    request_finished.connect(forget, weak=False, dispatch_uid=uid)


def _before(instance: Any, using: str, **_: Any) -> None:
    if using != databases.primary():
        return
    leaving = _leaving.get()
    if leaving is None or instance.pk not in leaving.pks:
        leaving = _from_admin_log(instance, leaving)
    if leaving is None:
        return
    _require_permitted(leaving, instance)
    try:
        person = super_admins.lock_leaving(instance.pk, leaving.pks)
    except errors.LastSuperAdmin as wrong:
        raise PermissionDenied(wrong.text) from wrong
    super_admins.lock_against_references(instance.pk)
    if person is not None:
        delete_user.record(person, by=leaving.by, client=leaving.client)


def _require_permitted(leaving: Deletion, user: Any) -> None:
    if not authority.may_change(leaving.by, person_of(user)):
        raise PermissionDenied(_("Only a superuser may delete a super admin."))


def _from_admin_log(user: Any, others: Deletion | None) -> Deletion | None:
    """The actor who deletes a user without an account, from admin's log; None if it was not
    admin."""
    if hasattr(user, "authservice_account"):
        return None
    kind = ContentType.objects.get_for_model(user, for_concrete_model=False)
    entries = LogEntry.objects.filter(
        content_type=kind,
        action_flag=DELETION,
        action_time__gt=clock.now() - _LOG_AGE,
    )
    entry: Any = entries.filter(object_id=str(user.pk)).order_by("-pk").first()
    if entry is None:
        return None
    ids = entries.filter(user_id=entry.user_id).values_list("object_id", flat=True)
    pks = {user._meta.pk.to_python(text) for text in ids} | (others.pks if others else set())
    by = host().model._base_manager.using(databases.primary()).get(pk=entry.user_id)
    return Deletion(by, others.client if others else Client(), pks=pks)
