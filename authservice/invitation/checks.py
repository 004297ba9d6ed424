"""System checks of the invitation module: e-mail delivery, durations and limits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.core.conf import core
from authservice.core.users import chosen
from authservice.invitation.conf import conf
from authservice.invitation.models import PURPOSE_LENGTH
from authservice.kernel import message_queue
from authservice.kernel.checks import message
from authservice.kernel.settings import complaints


def connect() -> None:
    register(check_invitations, "authservice")


def check_invitations(**_: Any) -> list[CheckMessage]:
    # The check of the core app reports wrong keys and types; until then, settings are unreadable.
    if not apps.is_installed("authservice.invitation") or list(complaints()):
        return []
    return [*_mail(), *_life(), *_limits(), *_purposes(), *_phone(), *_senders()]


def _mail() -> Iterator[CheckMessage]:
    if not message_queue.can_mail():
        yield message("authservice.W180")


def _life() -> Iterator[CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield message("authservice.E181")
    if conf.kept < timedelta(0):
        yield message("authservice.E182")


def _limits() -> Iterator[CheckMessage]:
    if conf.max_pending_per_email < 0:
        yield message("authservice.E183")


def _purposes() -> Iterator[CheckMessage]:
    wrong = [name for name in conf.allowed_purposes if not _is_purpose(name)]
    if wrong:
        yield message("authservice.E184", f"INVITATION.ALLOWED_PURPOSES contains {wrong[0]!r}.")


def _is_purpose(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name.strip()) == len(name) <= PURPOSE_LENGTH


def _phone() -> Iterator[CheckMessage]:
    if core.require_phone_verification:
        yield message("authservice.W185")


def _senders() -> Iterator[CheckMessage]:
    if not chosen.is_valid(conf.who_may_invite):
        yield message("authservice.E186", f"INVITATION.WHO_MAY_INVITE is {conf.who_may_invite!r}.")
