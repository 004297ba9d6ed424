"""The user, as the kernel and the slots of modules see them."""

from __future__ import annotations

from typing import Any, Protocol


class Person(Protocol):
    """A user of the host project with our account; `core/users/person.py` has the class.

    `user` is the row of the host's own model, whichever it is.
    """

    @property
    def user(self) -> Any: ...

    @property
    def id(self) -> str: ...

    @property
    def email(self) -> str: ...

    @property
    def username(self) -> str: ...

    @property
    def active(self) -> bool: ...

    @property
    def email_verified(self) -> bool: ...

    @property
    def is_super_admin(self) -> bool: ...
