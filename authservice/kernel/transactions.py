"""Decorators that tests enforce: a function must be called in a transaction, or outside of all.

    @transactions.inside
    def evict(...): ...  # reads and writes that must commit or roll back together

    @transactions.outside
    def check_password(...): ...  # counts an attempt that a refusal must not roll back

Without the variable `AUTHSERVICE_CHECK_TRANSACTIONS` in the environment the decorators return the
function itself, so that requests do not pay for the check. The tests of the service set it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from authservice.kernel import databases

P = ParamSpec("P")
R = TypeVar("R")

VARIABLE = "AUTHSERVICE_CHECK_TRANSACTIONS"


class WrongTransaction(RuntimeError):
    """A function was called inside a transaction but must run outside, or the reverse."""


def inside(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: must be called in a transaction of the database of users."""
    return _checked(function, wanted=True)


def outside(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: must not be called in a transaction of the database of users, which a refusal
    would roll back."""
    return _checked(function, wanted=False)


def is_open(connection: BaseDatabaseWrapper) -> bool:
    """Whether a transaction is open, other than those that Django's own test cases wrap around each
    test and mark."""
    blocks: list[Any] = connection.atomic_blocks
    return any(not getattr(block, "_from_testcase", False) for block in blocks)


def _checked(function: Callable[P, R], *, wanted: bool) -> Callable[P, R]:
    if not os.environ.get(VARIABLE):
        return function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_open(connections[databases.primary()]) is not wanted:
            where = "in a transaction" if wanted else "outside of transactions"
            raise WrongTransaction(f"{function.__qualname__} must be called {where}.")
        return function(*args, **kwargs)

    return call
