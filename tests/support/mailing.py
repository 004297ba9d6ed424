"""The settings with which a project sends e-mail, in the form that this version of Django takes.

Django 6.1 has `MAILERS`, and refuses the settings of earlier versions beside it.
"""

from __future__ import annotations

from typing import Any

import django

_NAMES = {"host": "EMAIL_HOST", "port": "EMAIL_PORT", "file_path": "EMAIL_FILE_PATH"}


def mail_settings(backend: str, **options: Any) -> dict[str, Any]:
    """For a backend of Django, such as `smtp`, or one with a dotted path."""
    if "." not in backend:
        backend = f"django.core.mail.backends.{backend}.EmailBackend"
    if django.VERSION >= (6, 1):
        return {"MAILERS": {"default": {"BACKEND": backend, "OPTIONS": options}}}
    return {"EMAIL_BACKEND": backend, **{_NAMES[name]: given for name, given in options.items()}}
