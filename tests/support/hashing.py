"""Count computed password hashes: their run time could reveal whether a user exists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest import mock

from django.contrib.auth.hashers import (
    PBKDF2PasswordHasher,
    PBKDF2SHA1PasswordHasher,
    get_hashers,
)

FAST = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ARGON = ["authservice.hashers.Argon2id"]


class PBKDF2(PBKDF2PasswordHasher):
    """Django's hasher, with a thousandth of the run time."""

    iterations = 1000


class OldPBKDF2(PBKDF2SHA1PasswordHasher):
    """The same for PBKDF2 with SHA-1, an older hasher of Django."""

    iterations = 1000


class Spy:
    """Records the algorithm of every computed hash, in order. A nested hash is not counted."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self._depth = 0

    def watch(self, method: Any) -> Any:
        @wraps(method)
        def watched(hasher: Any, *args: Any, **options: Any) -> Any:
            if not self._depth:
                self.made.append(hasher.algorithm)
            self._depth += 1
            try:
                return method(hasher, *args, **options)
            finally:
                self._depth -= 1

        return watched


@contextmanager
def spied() -> Iterator[Spy]:
    """Record `encode` and `verify` of the hashers in `PASSWORD_HASHERS`; they work as usual."""
    spy = Spy()
    kinds = {type(hasher) for hasher in get_hashers()}
    methods = [(kind, name) for kind in kinds for name in ("encode", "verify")]
    watched = [
        mock.patch.object(kind, name, spy.watch(getattr(kind, name))) for kind, name in methods
    ]
    for patch in watched:
        patch.start()
    try:
        yield spy
    finally:
        for patch in reversed(watched):
            patch.stop()
