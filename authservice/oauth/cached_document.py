"""A JSON document of a provider that changes rarely: its metadata, its keys."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from authservice.kernel.outbound import client
from authservice.kernel.outbound.errors import OutboundError

_LIFE = timedelta(hours=1)
# A forged token with an unknown key id must not cause a request each time.
_PAUSE = timedelta(minutes=1)


class CachedDocument:
    """Kept in the process for an hour. If it cannot be fetched again, the old one stays in use.

    There is no lock: while a provider hangs, threads that waited for a lock would be lost to the
    service, whereas requests in flight are limited.
    """

    def __init__(self, url: str, *, service: str) -> None:
        self._url = url
        self._service = service
        self._document: Any = None
        self._fetched_at: float | None = None

    def get(self) -> Any:
        """The document. Raises `OutboundError` if there is none."""
        if self._is_older_than(_LIFE):
            self._renew()
        return self._document

    def get_newer(self) -> Any:
        """The document as it is now, unless it was fetched within the last minute."""
        if self._is_older_than(_PAUSE):
            self._renew()
        return self._document

    def _renew(self) -> None:
        try:
            response = client.get(self._url, service=self._service)
            response.raise_for_status()
            self._document = response.json()
        except OutboundError:
            if self._document is None:
                raise
        self._fetched_at = time.time()

    def _is_older_than(self, age: timedelta) -> bool:
        fetched = self._fetched_at
        return fetched is None or time.time() - fetched >= age.total_seconds()
