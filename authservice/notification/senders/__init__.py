"""Senders of SMS: each is a callable `(to, body) -> None` that raises an exception on failure."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel.outbound import http_client
from authservice.kernel.settings import cached, pluggable
from authservice.notification.conf import conf

Sender = Callable[[str, str], None]
# By the names in `conf.SENDERS`. A sender that needs a package of its own has a file of its own.
_PATHS = {
    "console": f"{__name__}.write_to_log",
    "webhook": f"{__name__}.post_to_webhook",
    "twilio": f"{__name__}.twilio.send",
}
_console = logging.getLogger("authservice.notification.console")


@cached
def sender() -> Sender:
    """The sender of `NOTIFICATION.SMS_SENDER`."""
    if not conf.sms_sender:
        raise ImproperlyConfigured("AUTHSERVICE['NOTIFICATION']['SMS_SENDER'] is not set.")
    chosen: Sender = pluggable(conf.sms_sender, _PATHS)
    return chosen


def write_to_log(to: str, body: str) -> None:
    """For development: write SMS to the log, including their codes."""
    _console.info("SMS to %s: %s", to, body)


def post_to_webhook(to: str, body: str) -> None:
    """Post the text as JSON to the host's own gateway.

    Raises `authservice.kernel.outbound.transport.BadStatus` for every response but 2xx, redirects
    included: a redirected POST becomes a GET, which may succeed but sends nothing.
    """
    http_client.post_json(
        conf.sms_webhook_url,
        {"to": to, "body": body},
        service="sms-webhook",
        timeout=conf.sms_webhook_timeout,
    ).raise_for_status()
