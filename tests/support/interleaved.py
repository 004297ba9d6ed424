"""Run code during a request: after its authentication and before it acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from authservice.core.credentials import attempt_counter


def once_counted(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Call `happens` once, when the next request counts its attempt: the request is authenticated,
    and its transaction has not begun."""
    take, waiting = attempt_counter.consume, [happens]

    def taken(*given: Any, **more: Any) -> None:
        take(*given, **more)
        while waiting:
            waiting.pop()()

    monkeypatch.setattr(attempt_counter, "consume", taken)
