"""What the service answered: every operation with its response, and what contradicts a promise."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

from tests.faults.service import Reply

# Secrets are longer, and have no other characters.
_WORDS = re.compile(r"[\w.-]{20,}")


@dataclass
class Known:
    """How often an action of a user happened: for certain, and perhaps (no answer, or 503)."""

    sure: Counter[str] = field(default_factory=Counter)
    unsure: Counter[str] = field(default_factory=Counter)

    def add(self, action: str, reply: Reply) -> None:
        if not reply.known:
            self.unsure[action] += 1
        elif reply.status < 300:
            self.sure[action] += 1


class Ledger:
    """Shared by all clients of a run."""

    def __init__(self) -> None:
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.users: dict[str, Known] = {}
        self.broken: list[str] = []
        self.slowest = 0.0
        self.last_503 = 0.0
        self._secrets: set[str] = set()
        self._lock = Lock()

    def __len__(self) -> int:
        return sum(self.statuses.values())

    def note(self, operation: str, reply: Reply, seconds: float) -> None:
        with self._lock:
            self.statuses[operation, reply.status] += 1
            self.slowest = max(self.slowest, seconds)
            if reply.status == 503 and not reply.retry_after:
                self.broken.append(f"{operation}: 503 without Retry-After")
            if reply.status >= 500 and reply.status != 503:
                self.broken.append(f"{operation}: {reply.status} {reply.data}")
            if reply.status == 503:
                self.last_503 = time.monotonic()

    def blame(self, text: str) -> None:
        with self._lock:
            self.broken.append(text)

    def user(self, email: str) -> Known:
        with self._lock:
            return self.users.setdefault(email, Known())

    def keep_secret(self, *texts: str) -> None:
        """Remember texts that no log may contain."""
        with self._lock:
            self._secrets.update(texts)

    def leaked(self, log: str) -> list[str]:
        """The first characters of each secret that the log contains."""
        return [f"{word[:6]}…" for word in self._secrets.intersection(_WORDS.findall(log))]

    def refused(self, status: int) -> int:
        """How many operations had this status."""
        return sum(count for (_, found), count in self.statuses.items() if found == status)

    def summary(self) -> str:
        counts: Counter[int] = Counter()
        for (_, status), count in self.statuses.items():
            counts[status] += count
        return ", ".join(
            f"{count} × {status or 'no response'}" for status, count in sorted(counts.items())
        )
