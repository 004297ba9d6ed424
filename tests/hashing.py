"""Counting the hashes that are really made: the expensive work that time would give away."""

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
    """Django's, in a thousandth of the time."""

    iterations = 1000


class OldPBKDF2(PBKDF2SHA1PasswordHasher):
    """The same for the one before it."""

    iterations = 1000


class Spy:
    """The algorithm of every hash made, in order. A hash within another one is not a second."""

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
    """Watch `encode` and `verify` of the hashers in `PASSWORD_HASHERS`; they do their work."""
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
