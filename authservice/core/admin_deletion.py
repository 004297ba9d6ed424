"""Users whom staff delete in Django admin: the last super admin stays, and each one is told of.

The page is the host's own, and a list deletes outside of any transaction. Two steps are common to
all ways of it: admin asks, with the request, whether each account may go too, and the deletion
begins with a signal in its own transaction. The first says who leaves by whose hand; the second
holds the super admins and tells, so that there is no deletion without its entry.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.core.exceptions import PermissionDenied
from django.core.signals import request_finished
from django.db.models.signals import pre_delete
from django.http import HttpRequest

from authservice.core import directory, removal, super_admins
from authservice.core.host import host
from authservice.kernel import errors
from authservice.kernel.client import Client


@dataclass
class Leaving:
    """Whom one request is about to delete; `reigning` are the super admins when it first asked."""

    by: Any
    client: Client
    reigning: set[Any]
    pks: set[Any] = field(default_factory=set)


_leaving: ContextVar[Leaving | None] = ContextVar("authservice_leaving", default=None)


def connect() -> None:
    """Hear of users alone: with a receiver, rows of a model are no longer deleted unread."""
    users = host().model._meta.concrete_model
    for model in apps.get_models():
        if model._meta.concrete_model is users:
            uid = f"authservice.core.admin_deletion.{model._meta.label}"
            pre_delete.connect(_before, sender=model, dispatch_uid=uid)
    request_finished.connect(_forget, dispatch_uid="authservice.core.admin_deletion")


def may_leave(pk: Any, request: HttpRequest, client: Client) -> bool:
    """Whether somebody reigns without this user and those the request has asked for before."""
    kept = request.__dict__
    if "_authservice_leaving" not in kept:
        kept["_authservice_leaving"] = Leaving(request.user, client, super_admins.reigning())
    leaving: Leaving = kept["_authservice_leaving"]
    leaving.pks.add(pk)
    _leaving.set(leaving)
    return not leaving.reigning or not leaving.reigning <= leaving.pks


def _before(instance: Any, using: str, **_: Any) -> None:
    leaving = _leaving.get()
    if leaving is None or instance.pk not in leaving.pks or using != directory.database():
        return
    try:
        person = super_admins.hold_leaving(instance.pk, leaving.pks)
    except errors.LastSuperAdmin as wrong:
        raise PermissionDenied(wrong.message) from wrong
    super_admins.shut(instance.pk)
    if person is not None:
        removal.tell(person, by=leaving.by, client=leaving.client)


def _forget(**_: Any) -> None:
    _leaving.set(None)
