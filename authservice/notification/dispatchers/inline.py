"""In the request itself, for tests: whoever asks waits, and can tell known from unknown."""

from __future__ import annotations

from authservice.notification.worker import deliver

dispatch = deliver
