"""A hasher that keeps count of its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from django.contrib.auth.hashers import MD5PasswordHasher


class Counting(MD5PasswordHasher):
    """`watch` holds what is called at each hash, checked or made."""

    algorithm = "counting"
    watch: ClassVar[list[Callable[[], object]]] = []

    def encode(self, password: str, salt: str) -> str:
        for called in self.watch:
            called()
        return super().encode(password, salt)
