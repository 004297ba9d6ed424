"""Dispatch within the request, for tests only: the response time reveals if an address is known."""

from __future__ import annotations

from authservice.notification.worker import deliver

dispatch = deliver
