"""A JSON document of a provider that changes rarely: its metadata, its keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from authservice.kernel import clock
from authservice.kernel.outbound import http_client
from authservice.kernel.outbound.errors import OutboundError

_LIFE = timedelta(hours=1)
# How long a document may be used without another successful request: a provider may have withdrawn
# a key, and an attacker who has it may keep us from the provider.
_LONGEST = timedelta(hours=24)
# A forged token with an unknown key id must not cause a request each time, and neither must each
# login while the provider is unavailable.
_PAUSE = timedelta(minutes=1)


class UnexpectedDocument(OutboundError):
    """The response is JSON, but not the document."""


class CachedDocument:
    """A document that is kept in the process for an hour. If it cannot be fetched again, or the
    response does not satisfy `accepts`, the old one stays in use for up to 24 hours, and the next
    attempt is made a minute later.

    There is no lock: while a provider does not answer, threads that wait for a lock could serve no
    other request. The number of requests to a provider is limited instead (`OUTBOUND.IN_FLIGHT`).
    """

    def __init__(self, url: str, *, service: str, accepts: Callable[[Any], bool]) -> None:
        self._url = url
        self._service = service
        self._accepts = accepts
        self._document: Any = None
        self._fetched_at: float | None = None
        self._tried_at: float | None = None

    def get(self) -> Any:
        """The document. Raises `OutboundError` if there is none."""
        if _is_older(self._fetched_at, _LIFE) and self._may_try():
            self._renew()
        return self._document

    def get_newer(self) -> Any:
        """The document, fetched again unless it was requested within the last minute."""
        if self._may_try():
            self._renew()
        return self._document

    def _may_try(self) -> bool:
        return self._document is None or _is_older(self._tried_at, _PAUSE)

    def _renew(self) -> None:
        now = clock.timestamp()
        try:
            self._document = self._fetched()
            self._fetched_at = now
        except OutboundError:
            if self._document is None or _is_older(self._fetched_at, _LONGEST):
                self._document = None
                raise
        finally:
            self._tried_at = now

    def _fetched(self) -> Any:
        response = http_client.get(self._url, service=self._service)
        response.raise_for_status()
        document = response.json()
        if not self._accepts(document):
            raise UnexpectedDocument("The response is another document.")
        return document


def _is_older(moment: float | None, age: timedelta) -> bool:
    return moment is None or clock.timestamp() - moment >= age.total_seconds()
