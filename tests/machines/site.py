"""The whole installation on this machine, each server on a port of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from kombu import Connection

from tests.faults.cluster import PASSWORD, Cluster
from tests.faults.ledger import Ledger
from tests.faults.mailbox import Mailbox
from tests.faults.service import SECRET_KEY, Line, Reply
from tests.faults.traffic import CLIENTS, Client
from tests.hosts.runs import ROOT
from tests.machines.postgresql import Primary, Standby
from tests.machines.programs import (
    DEPLOYMENT,
    REDIS_PASSWORD,
    Caches,
    HAProxy,
    PgBouncer,
    at,
    wait_until,
)
from tests.support import processes
from tests.support.ports import free_port

RABBITMQ = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
NAMES = ("one", "two")
# As in `compose.yaml` and `kubernetes.yaml`.
WEB = ("gunicorn", "--workers=2", "--worker-class=gthread", "--threads=8")
WORKER = ("celery", "-A", "service", "worker", "--concurrency=1")


class Server:
    """A web server, as `haproxy.cfg` names it."""

    def __init__(self, name: str, log: Path, environment: dict[str, str]) -> None:
        self.name, self.port, self.log = name, free_port(), log
        self._environment = environment

    def start(self) -> None:
        command = [sys.executable, "-m", *WEB, f"--bind={at(self.port)}", "example_project.wsgi"]
        self._process = _started(command, self.log, self._environment)

    def wait_for(self) -> None:
        wait_until(lambda: self.call("GET", "me").status == 401, f"{self.name} responds")

    def stop(self) -> None:
        """gunicorn answers the requests that it has, for 30 seconds at most."""
        self._process.terminate()
        self._process.wait()

    def call(self, method: str, path: str, bearer: str = "", /, **body: object) -> Reply:
        """A request to this server alone."""
        line = Line(self.port)
        try:
            return line.call(method, path, bearer, **body)
        finally:
            line.close()


class Worker:
    """A worker of Celery."""

    def __init__(self, log: Path, environment: dict[str, str]) -> None:
        self._log, self._environment = log, environment
        self.start()

    def start(self) -> None:
        queue = self._environment["TEST_QUEUE"]
        name = f"--hostname={uuid.uuid4().hex}@%h"
        command = [sys.executable, "-m", *WORKER, f"--queues={queue},{queue}-notices", name]
        self._process = _started(command, self._log, self._environment)

    def kill(self) -> None:
        """As a power failure would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Site:
    """`cluster` is the PostgreSQL server that is the primary at the moment."""

    def __init__(self, folder: Path, stack: ExitStack, login: str) -> None:
        self.folder, self.random, self.ledger = folder, Random(1), Ledger()
        self.ledger.keep_secret(PASSWORD)
        self._start_databases(stack)
        self.caches = Caches(folder)
        stack.callback(self.caches.stop)
        self.mailbox = stack.enter_context(Mailbox())
        self.keys = folder / "keys.json"
        self._queue = f"authservice-{uuid.uuid4().hex}"
        self._login = login
        self._start(stack)

    def _start_databases(self, stack: ExitStack) -> None:
        primary, standby = Primary(self.folder / "one"), Standby(self.folder / "two")
        self.cluster: Cluster = primary
        self.standby: Cluster = standby
        for cluster in (primary, standby):
            stack.callback(lambda cluster=cluster: cluster.running and cluster.stop())
        primary.create()
        standby.follow(primary)

    def _start(self, stack: ExitStack) -> None:
        environment: dict[str, str] = {}
        self.servers = [
            Server(name, self.folder / f"server-{name}.log", environment) for name in NAMES
        ]
        self.haproxy = HAProxy(self.folder, **self._behind())
        stack.callback(self.haproxy.stop)
        bouncer = PgBouncer(self.folder, self.haproxy.postgresql)
        stack.callback(bouncer.stop)
        environment |= self._environment(bouncer.port)
        self.haproxy.wait_for("postgresql", "one")
        self.haproxy.wait_for("redis", "one")
        self.manage("authservice_keys", "generate", "--file", str(self.keys), keys=False)
        self.manage("authservice_keys", "generate", "--file", str(self.keys), keys=False)
        self.manage("migrate", "-v", "0")
        self.workers = [Worker(self.folder / f"worker-{name}.log", environment) for name in NAMES]
        stack.callback(self._stop_workers)
        for server in self.servers:
            server.start()
            stack.callback(server.stop)
        for name in NAMES:
            self.haproxy.wait_for("service", name)
        self.clients = [
            Client(number, self.haproxy.web, self.ledger, self.mailbox) for number in range(CLIENTS)
        ]

    def _behind(self) -> dict[str, str]:
        """Where HAProxy finds the servers."""
        return {
            "SERVICE_ONE": at(self.servers[0].port),
            "SERVICE_TWO": at(self.servers[1].port),
            "POSTGRESQL_ONE": at(self.cluster.port),
            "POSTGRESQL_TWO": at(self.standby.port),
            "REDIS_ONE": at(self.caches.servers[0].port),
            "REDIS_TWO": at(self.caches.servers[1].port),
        }

    def _environment(self, bouncer: int) -> dict[str, str]:
        pooled = "&disable_server_side_cursors=True&prepare_threshold=None"
        self._variables = {
            "AUTHSERVICE_API_URL": f"http://127.0.0.1:{self.haproxy.web}",
            "AUTHSERVICE_LOGIN": self._login,
            "AUTHSERVICE_OAUTH_SESSION": str(int(self._login == "session")),
            "AUTHSERVICE_SESSION_STORE": "cache",
            "AUTHSERVICE_THROTTLE": "0",
            # The clients name an address of their own, as a proxy in front of HAProxy would.
            "AUTHSERVICE_TRUSTED_PROXIES": "127.0.0.0/8",
            "CACHE_URL": f"redis://:{REDIS_PASSWORD}@{at(self.haproxy.redis)}/1",
            "CELERY_BROKER_URL": RABBITMQ,
            "DATABASE_URL": self.cluster.url(bouncer, pooled),
            "DEBUG": "0",
            "DJANGO_SETTINGS_MODULE": "tests.machines.settings",
            "EMAIL_URL": f"smtp://127.0.0.1:{self.mailbox.port}",
            "PGOPTIONS": "",
            "SECRET_KEY": SECRET_KEY,
            "SIGNING_KEYS_FILE": str(self.keys),
            "TEST_QUEUE": self._queue,
        }
        return self.environment()

    def environment(self) -> dict[str, str]:
        made = processes.environment(**self._variables)
        return {**made, "PYTHONPATH": os.pathsep.join([str(ROOT), str(DEPLOYMENT)])}

    def manage(self, *command: str, keys: bool = True) -> None:
        """Run a command; `keys=False` before there is a file of signing keys."""
        environment = self.environment()
        if not keys:
            environment["DJANGO_SETTINGS_MODULE"] = "example_project.settings"
        program = [sys.executable, "example_project/manage.py", *command]
        subprocess.run(program, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)

    def recovered(self) -> float:
        """Seconds until a request through HAProxy that needs the database succeeds."""
        line = Line(self.haproxy.web)
        try:
            return wait_until(
                lambda: line.call("POST", "is-available", email="a@example.com").status == 200,
                "the service responds",
            )
        finally:
            line.close()

    def logs(self) -> str:
        """All that was logged by the programs of the site."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("*/*.log")]
        return "".join(file.read_text(errors="replace") for file in files)

    def _stop_workers(self) -> None:
        for worker in self.workers:
            worker.kill()
        with Connection(RABBITMQ) as connection:
            for queue in (self._queue, f"{self._queue}-notices"):
                connection.default_channel.queue_delete(queue)


@contextmanager
def running(login: str = "stateless") -> Iterator[Site]:
    """Start all servers, and stop them at the end of the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        yield Site(folder, stack, login)


def _started(command: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as opened:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=opened,
            stderr=opened,
            start_new_session=True,
        )
