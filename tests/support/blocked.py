"""How long a call blocks its caller."""

import gc
import time
from collections.abc import Callable
from typing import Any


def blocked(call: Callable[[], Any]) -> float:
    """The seconds that *call* takes, without garbage collections: one of all that a worker of the
    suite has loaded takes a third of a second on a slow machine."""
    gc.disable()
    try:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    finally:
        gc.enable()
