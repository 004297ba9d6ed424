"""A hasher that counts its hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from django.contrib.auth.hashers import MD5PasswordHasher


class Counting(MD5PasswordHasher):
    """Calls the functions in `watch` before each hash, whether it is stored or compared."""

    algorithm = "counting"
    watch: ClassVar[list[Callable[[], object]]] = []

    def encode(self, password: str, salt: str) -> str:
        for called in self.watch:
            called()
        return super().encode(password, salt)
