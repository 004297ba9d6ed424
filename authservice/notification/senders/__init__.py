"""Senders of SMS: each is a callable `(to, body) -> None` that raises an exception on failure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from authservice.kernel.settings import on_change
from authservice.notification.conf import conf

Sender = Callable[[str, str], None]
SENDERS = ("console", "webhook", "twilio")


@cache
def sender() -> Sender:
    """The sender of `NOTIFICATION.SMS_SENDER`."""
    if not conf.sms_sender:
        raise ImproperlyConfigured("AUTHSERVICE['NOTIFICATION']['SMS_SENDER'] is not set.")
    if conf.sms_sender in SENDERS:
        return _callable(f"{__name__}.{conf.sms_sender}.send")
    return _callable(conf.sms_sender)


def _callable(path: str) -> Sender:
    found: Sender = import_string(path)
    return found


@on_change
def _forget() -> None:
    sender.cache_clear()
