"""For development: text messages, codes and all, go to the log."""

from __future__ import annotations

import logging

logger = logging.getLogger("authservice.notification.console")


def send(to: str, body: str) -> None:
    logger.info("SMS to %s: %s", to, body)
