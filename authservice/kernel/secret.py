"""A wrapper for a password, token or code, so that no error report shows it.

Error reports print the local variables of every frame. A `Secret` prints as `Secret(...)`, cannot
be pickled or written as JSON, and returns its value only by `reveal()`. Reveal it as late as
possible: in the argument of the function that hashes, compares or sends it, so that the plain text
is in no local variable while a database statement runs.
"""

from __future__ import annotations

import hmac
from typing import Any, NoReturn


class Secret:
    """`reveal()` returns the text. Two secrets compare in constant time; an empty one is false."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__text.encode(), other.reveal().encode())

    # A hash would let caches keep secrets as their keys.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("A secret cannot be pickled or copied.")
