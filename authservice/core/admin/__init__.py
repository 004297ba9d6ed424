"""Django admin: accounts, sessions, one-time tokens, counters of attempts and lost messages.

Only the autodiscovery of Django admin imports this package, so a project without it never loads it.
Rows that must not be edited by hand are read-only. No key, digest, seed or fingerprint is shown.
"""

from authservice.core.admin import service_rows
from authservice.core.admin.accounts import AccountInline
from authservice.core.staff import django_user_pages

__all__ = ["AccountInline", "service_rows"]

django_user_pages.connect()
