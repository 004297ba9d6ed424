"""Send SMS with Twilio, using Twilio's own package."""

from __future__ import annotations

import logging
from typing import Any

from twilio.http.http_client import TwilioHttpClient  # type: ignore[import-untyped]
from twilio.rest import Client  # type: ignore[import-untyped]

from authservice.kernel.settings import cached
from authservice.notification.conf import conf

_TIMEOUT = 10  # seconds

# Twilio's package logs the URL of each request and the headers of the response: this logger drops
# them.
_silent = logging.Logger("authservice.notification.twilio", level=logging.CRITICAL + 1)


def send(to: str, body: str) -> None:
    """Raises `TwilioRestException` if Twilio rejects the message."""
    # The SID of a messaging service begins with "MG".
    parameter = "messaging_service_sid" if conf.twilio_from.startswith("MG") else "from_"
    _client().messages.create(to=to, body=body, **{parameter: conf.twilio_from})


@cached
def _client() -> Any:
    transport = TwilioHttpClient(timeout=_TIMEOUT, logger=_silent)
    return Client(conf.twilio_account_sid, conf.twilio_auth_token, http_client=transport)
