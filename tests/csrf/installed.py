"""Installs the csrf module into the running project for a limited time."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.support.mounted import mounted


def installed() -> AbstractContextManager[None]:
    return mounted("authservice.csrf")
