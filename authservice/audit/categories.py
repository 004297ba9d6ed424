"""The three categories of entries that have routes of their own."""

from __future__ import annotations

from collections.abc import Mapping

LOGINS, CHANGES, SECURITY = "logins", "changes", "security"

_PREFIXES: Mapping[str, tuple[str, ...]] = {
    LOGINS: ("auth.login.", "auth.logout", "auth.token."),
    CHANGES: ("user.",),
    SECURITY: ("auth.2fa.", "auth.password.", "security."),
}


def category_of(action: str) -> str:
    """The category of an action, or "" if it has none."""
    return next((name for name, starts in _PREFIXES.items() if action.startswith(starts)), "")
