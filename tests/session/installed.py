"""The session module instead of the stateless one, for a while, in the running project."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.mounted import mounted


def installed() -> AbstractContextManager[None]:
    return mounted(login="session")
