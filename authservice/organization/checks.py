"""System checks of this module."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.core.users import chosen
from authservice.kernel import message_queue
from authservice.kernel.checks import message
from authservice.kernel.settings import complaints
from authservice.organization.auto_create import name_from
from authservice.organization.conf import conf


def connect() -> None:
    register(check_organizations, "authservice")


def check_organizations(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if not apps.is_installed("authservice.organization") or list(complaints()):
        return
    if conf.max_members < 0 or conf.max_per_user < 0:
        yield message("authservice.E190")
    if conf.invitation_ttl <= timedelta(0):
        yield message("authservice.E191")
    if conf.invitations_kept < timedelta(0):
        yield message("authservice.E193")
    if not chosen.is_valid(conf.who_may_create):
        yield message(
            "authservice.E195", f"ORGANIZATION.WHO_MAY_CREATE is {conf.who_may_create!r}."
        )
    if not message_queue.can_mail():
        yield message("authservice.W194")
    try:
        usable = name_from(conf.auto_create_name, "Ann").strip()
    except (ValueError, LookupError, AttributeError):
        usable = ""
    if not usable:
        yield message(
            "authservice.E192",
            f"ORGANIZATION.AUTO_CREATE_NAME is {conf.auto_create_name!r}, which is not a name with"
            " at most the placeholder {name}.",
        )
