"""System checks: settings under which no token of simplejwt can be traded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.db import router
from django.utils import timezone
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from authservice.compat.simplejwt.conf import conf
from authservice.compat.simplejwt.trade import is_installed
from authservice.kernel import databases, sections
from authservice.kernel.checks import message
from authservice.kernel.modules import plugs
from authservice.kernel.settings import complaints

# The settings of packages that a project comes from, and the app that reads them.
_SETTINGS = {"REST_AUTH": "dj_rest_auth", "DJOSER": "djoser", "REST_KNOX": "knox"}


def connect() -> None:
    register(check_simplejwt, "authservice")


def check_simplejwt(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.compat.simplejwt") or list(complaints()):
        return []
    return [*_times(), *_block_list(), *_cookie(), *_left()]


def _trades() -> bool:
    return bool(conf.trade_issued_before and conf.trade_until)


def _times() -> Iterator[CheckMessage]:
    if bool(conf.trade_issued_before) != bool(conf.trade_until):
        yield message("authservice.E210")
    elif conf.trade_until and conf.trade_until.timestamp() < timezone.now().timestamp():
        yield message("authservice.W213")


def _block_list() -> Iterator[CheckMessage]:
    if not _trades():
        return
    if not is_installed():
        yield message("authservice.E211")
        return
    tables = (OutstandingToken, BlacklistedToken)
    if {router.db_for_write(table) for table in tables} != {databases.primary()}:
        yield message("authservice.E212")


def _cookie() -> Iterator[CheckMessage]:
    if conf.trade_cookie and not (sections.cookies.enabled and plugs("request_guard")):
        yield message("authservice.W214")


def _left() -> Iterator[CheckMessage]:
    for name, app in _SETTINGS.items():
        if hasattr(settings, name) and not apps.is_installed(app):
            text = f"{name} is set, but {app!r} is not installed, so nothing reads it."
            yield message("authservice.W215", text)
