"""The three sorts of entries that people may ask for by themselves."""

from __future__ import annotations

from collections.abc import Mapping

LOGINS, CHANGES, SECURITY = "logins", "changes", "security"

_PREFIXES: Mapping[str, tuple[str, ...]] = {
    LOGINS: ("auth.login.", "auth.logout", "auth.token."),
    CHANGES: ("user.",),
    SECURITY: ("auth.2fa.", "auth.password.", "security."),
}


def category_of(action: str) -> str:
    """The one an action belongs to, or ""."""
    return next((name for name, stems in _PREFIXES.items() if action.startswith(stems)), "")
