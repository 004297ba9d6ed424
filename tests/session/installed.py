"""Installs the session module instead of the stateless one in the running project."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.support.mounted import mounted


def installed() -> AbstractContextManager[None]:
    return mounted(login="session")
