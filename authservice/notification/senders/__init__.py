"""Senders of SMS: each is a callable `(to, body) -> None` that raises an exception on failure."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel.settings import cached, pluggable
from authservice.notification.conf import SENDERS, conf

Sender = Callable[[str, str], None]
_PATHS = {name: f"{__name__}.{name}.send" for name in SENDERS}


@cached
def sender() -> Sender:
    """The sender of `NOTIFICATION.SMS_SENDER`."""
    if not conf.sms_sender:
        raise ImproperlyConfigured("AUTHSERVICE['NOTIFICATION']['SMS_SENDER'] is not set.")
    found: Sender = pluggable(conf.sms_sender, _PATHS)
    return found
