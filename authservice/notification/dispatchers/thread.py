"""In a thread of the same process: nothing to install, and what a crash takes along is lost."""

from __future__ import annotations

from authservice.notification import worker
from authservice.notification.dispatchers.background import Background

dispatch = Background(worker.attempt).put
