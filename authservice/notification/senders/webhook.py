"""Send SMS through the host's own gateway: the text is posted to it as JSON."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import HTTPRedirectHandler, Request, build_opener

from authservice.notification.conf import conf


class _NoRedirects(HTTPRedirectHandler):
    """Reject redirects: a redirected POST becomes a GET, which may succeed but sends nothing."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def send(to: str, body: str) -> None:
    """Raises `urllib.error.HTTPError` for every response but 2xx."""
    request = Request(  # noqa: S310 a system check verifies the scheme
        conf.sms_webhook_url,
        data=json.dumps({"to": to, "body": body}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with _opener.open(request, timeout=conf.sms_webhook_timeout.total_seconds()):
        pass
