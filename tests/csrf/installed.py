"""The csrf module, installed for a while into the running project."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tests.mounted import mounted


def installed() -> AbstractContextManager[None]:
    return mounted("authservice.csrf")
