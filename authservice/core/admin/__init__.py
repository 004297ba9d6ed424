"""Django admin: accounts, sessions, one-time tokens and counters of attempts.

Only the autodiscovery of Django admin imports this package, so a project without it never loads it.
Rows that must not be edited by hand are read-only. No key, digest, seed or fingerprint is shown.
"""

from authservice.core.admin import one_time_tokens, session_admin
from authservice.core.admin.accounts import AccountInline
from authservice.core.staff import admin_deletion, admin_password

__all__ = ["AccountInline", "one_time_tokens", "session_admin"]

admin_deletion.connect()
admin_password.connect()
