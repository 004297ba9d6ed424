"""Run something while a request is under way: after its authentication, before it acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from authservice.core import attempts


def once_counted(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Call `happens` once, when the next request counts its attempt: it has been authenticated, and
    its transaction has not begun."""
    take, waiting = attempts.take, [happens]

    def taken(*given: Any, **more: Any) -> None:
        take(*given, **more)
        while waiting:
            waiting.pop()()

    monkeypatch.setattr(attempts, "take", taken)
