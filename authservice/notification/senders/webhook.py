"""Send SMS through the host's own gateway: the text is posted to it as JSON."""

from __future__ import annotations

from authservice.kernel.outbound import http_client
from authservice.notification.conf import conf


def send(to: str, body: str) -> None:
    """Raises `authservice.kernel.outbound.errors.BadStatus` for every response but 2xx, redirects
    included: a redirected POST becomes a GET, which may succeed but sends nothing."""
    http_client.post_json(
        conf.sms_webhook_url,
        {"to": to, "body": body},
        service="sms-webhook",
        timeout=conf.sms_webhook_timeout,
    ).raise_for_status()
