"""Settings of the audit module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from authservice.kernel.modules import known_actions
from authservice.kernel.rules import NotNegative, Positive, Rule
from authservice.kernel.settings import section

_Action = Annotated[
    str,
    Rule(
        "an action",
        lambda name: name in known_actions(),
        "Use actions such as 'auth.token.refreshed'.",
    ),
]
_Prefix = Annotated[
    str,
    Rule(
        "an action or the start of one",
        lambda prefix: any(action.startswith(prefix) for action in known_actions()),
        "Use prefixes such as 'auth.login.', or whole actions.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Audit:
    """`AUTHSERVICE["AUDIT"]`."""

    exclude: tuple[_Action, ...] = ("auth.token.refreshed",)
    """Actions that are not recorded."""
    retention: Mapping[_Prefix, NotNegative[timedelta] | None] = field(default_factory=dict)
    """How long entries are kept, by a prefix such as `"auth.login."` or a whole action: a duration,
    or None to keep them permanently. The longest matching prefix counts, including the defaults."""
    cleanup_limit: Positive[int] = 100_000
    """Maximum number of entries that one `POST /admin/audit/cleanup` deletes; the command has no
    limit."""


conf = section("AUDIT", Audit)

# The defaults of `AUDIT.RETENTION`.
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
