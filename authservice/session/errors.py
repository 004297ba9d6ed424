"""The errors of this module."""

from __future__ import annotations

from authservice.kernel.errors import Fault


class SessionNotFound(Fault):
    status = 404
    code = "SESSION_NOT_FOUND"
    message = "The session does not exist."
    cause = "The caller has no valid session with this id."
    remedy = "List the sessions again."
