"""A project that sends e-mail by Celery, with real brokers and workers in their own processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from kombu import Connection

from tests.hosts.runs import ROOT
from tests.support import needs

RABBITMQ = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CELERY_REDIS_URL", "redis://127.0.0.1:6379/2")
LOG = "worker.log"
needs_rabbitmq, needs_redis = needs.service(RABBITMQ), needs.service(REDIS)


class CeleryProject:
    """Web server and workers share a broker and what `variables` name, such as a database."""

    def __init__(self, folder: Path, broker: str, queue: str = "", **variables: str) -> None:
        self.queue = queue or f"authservice-{uuid.uuid4().hex}"
        self._workers: list[subprocess.Popen[bytes]] = []
        self._environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.notification.celery_settings",
            "TEST_DATABASE": str(folder / "db.sqlite3"),
            "TEST_BROKER": broker,
            "TEST_QUEUE": self.queue,
            **variables,
        }
        self._log = folder / LOG

    def send_request(self) -> None:
        """Run a request that sends an e-mail, and wait for its end."""
        subprocess.run(
            [sys.executable, "-m", "tests.notification.celery_request"],
            **self._options(smtp_port=1),
            check=True,
            timeout=60,
        )

    def start_worker(self, smtp_port: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker; returns the leader of its process group."""
        # RabbitMQ gives a worker an exclusive queue of its name: the second of one name ends.
        name = f"{uuid.uuid4().hex}@%h"
        command = ["-m", "celery", "-A", "tests.notification.celery_app", "worker", "-n", name]
        with self._log.open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, *command, "--concurrency=1", "--loglevel=INFO", "-O", "fair"],
                **self._options(smtp_port),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._workers.append(worker)
        return worker

    def log(self) -> str:
        return self._log.read_text()

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill the process group of a worker without a warning, as a power failure would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for worker in self._workers:
            self.kill(worker)
        with Connection(self._environment["TEST_BROKER"]) as connection:
            connection.default_channel.queue_delete(self.queue)

    def _options(self, smtp_port: int) -> dict[str, Any]:
        return {"cwd": ROOT, "env": {**self._environment, "TEST_SMTP_PORT": str(smtp_port)}}
