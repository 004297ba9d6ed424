"""Settings of the audit module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Audit:
    """`AUTHSERVICE["AUDIT"]`."""

    exclude: tuple[str, ...] = ("auth.token.refreshed",)
    """Actions that are not recorded."""
    retention: Mapping[str, Any] = field(default_factory=dict)
    """How long entries are kept, by a prefix such as `"auth.login."` or a whole action: a duration,
    or None to keep them permanently. The longest matching prefix counts, including the defaults."""
    cleanup_limit: int = 100_000
    """Maximum number of entries that one `POST /admin/audit/cleanup` deletes; the command has no
    limit."""


conf = section("AUDIT", Audit)

RETENTION: Mapping[str, timedelta | None] = {
    "auth.": timedelta(days=90),
    "user.": timedelta(days=90),
    "admin.": timedelta(days=365),
    "org.": timedelta(days=365),
    "invitation.": timedelta(days=365),
    "security.": None,
    # Anybody can cause these entries, so they are not kept permanently.
    "security.new_device": timedelta(days=90),
    "security.account.throttled": timedelta(days=90),
}
