"""For development: write SMS to the log, including their codes."""

from __future__ import annotations

import logging

logger = logging.getLogger("authservice.notification.console")


def send(to: str, body: str) -> None:
    logger.info("SMS to %s: %s", to, body)
