"""Celery as the dispatcher: over real brokers to a real worker, and with a broker that is away."""

import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from urllib.parse import urlsplit

import pytest
import redis
from celery import Celery, _state
from kombu import Connection

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers import celery as dispatcher
from authservice.notification.dispatchers.background import Background
from tests.hosts.runs import ROOT
from tests.notification.servers import Mute, Sink, free_port

RABBITMQ = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CELERY_REDIS_URL", "redis://127.0.0.1:6379/2")
BROKERS = pytest.mark.parametrize("broker", [RABBITMQ, REDIS], ids=["rabbitmq", "redis"])


class Project:
    """A web server and workers, in processes of their own, with a database file between them."""

    def __init__(self, folder, broker):
        parts = urlsplit(broker)
        try:
            socket.create_connection((parts.hostname, parts.port), 1).close()
        except OSError:
            pytest.skip(f"no {parts.scheme} broker answers at {parts.hostname}:{parts.port}")
        self.queue = f"authservice-{uuid.uuid4().hex}"
        self._workers = []
        self._environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.notification.celery_settings",
            "TEST_DATABASE": str(folder / "db.sqlite3"),
            "TEST_BROKER": broker,
            "TEST_QUEUE": self.queue,
        }
        self._log = folder / "worker.log"

    def ask(self):
        """A request that asks for a mail, to its end."""
        subprocess.run(
            [sys.executable, "-m", "tests.notification.celery_ask"],
            **self._options(smtp_port=1),
            check=True,
            timeout=60,
        )

    def work(self, smtp_port):
        """A worker; the process it is the head of."""
        command = ["-m", "celery", "-A", "tests.notification.celery_app", "worker"]
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

    def log(self):
        return self._log.read_text()

    def kill(self, worker):
        """End it without any warning, as a machine that fails would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self):
        for worker in self._workers:
            self.kill(worker)
        with Connection(self._environment["TEST_BROKER"]) as connection:
            connection.default_channel.queue_delete(self.queue)

    def _options(self, smtp_port):
        return {"cwd": ROOT, "env": {**self._environment, "TEST_SMTP_PORT": str(smtp_port)}}


@pytest.fixture
def project(tmp_path):
    made = []

    def start(broker):
        made.append(Project(tmp_path, broker))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.mark.slow
@BROKERS
def test_a_job_crosses_the_broker_and_leaves_as_a_mail(project, broker, sink, eventually):
    service = project(broker)
    service.work(sink.port)

    service.ask()

    eventually(lambda: sink.mails, 60)
    assert "/reset-password?token=" in sink.mails[0].get_body(("plain",)).get_content()
    # Celery's own lines name the task; ours name kind and request; nobody names the address.
    assert "authservice.notification.deliver" in service.log()
    assert "ann@example.com" not in service.log()


@pytest.mark.slow
@BROKERS
def test_a_worker_tries_again_until_the_mail_server_is_back(project, broker, eventually):
    service, port = project(broker), free_port()
    service.work(port)
    service.ask()
    eventually(lambda: "attempt 2" in service.log(), 60)

    with Sink(port) as server:
        eventually(lambda: server.mails, 60)
        time.sleep(1)

        assert len(server.mails) == 1
    assert "Could not send reset-link of request request-7, attempt 1" in service.log()
    assert "ann@example.com" not in service.log()


@pytest.mark.slow
def test_a_job_outlives_the_worker_that_had_it(project, sink, eventually):
    service = project(RABBITMQ)
    with Mute() as server:
        worker = service.work(server.port)
        service.ask()
        eventually(lambda: "deliver" in service.log() and "received" in service.log(), 60)
        time.sleep(0.5)
        service.kill(worker)

    service.work(sink.port)

    eventually(lambda: sink.mails, 60)


@pytest.mark.slow
def test_what_lies_in_the_broker_is_no_secret(project):
    service = project(REDIS)

    service.ask()

    store = redis.Redis.from_url(REDIS)
    [raw] = store.lrange(service.queue, 0, -1)
    store.delete(service.queue)
    store.close()
    waiting = json.loads(raw)
    [[job], options, _] = json.loads(base64.b64decode(waiting["body"]))
    assert job == {
        "kind": "reset-link",
        "target": "ann@example.com",
        "language": "",
        "request_id": "request-7",
        "details": {},
        "requested": False,
        "not_before": "",
    }
    assert options == {}
    assert waiting["headers"]["argsrepr"] == "('reset-link', 'request-7')"


@pytest.fixture
def celery():
    """`celery(broker)` is the Celery app of the project, for all threads."""
    made = []

    def start(broker):
        app = Celery("tests", broker=broker)
        app.set_current()
        app.set_default()
        made.append(app)
        return app

    yield start
    _state._set_current_app(None)
    _state.set_default_app(None)
    for app in made:
        app.close()


@pytest.fixture
def publishing(celery, notify):
    """`publishing(port)`: the dispatcher of a project whose broker is said to be there."""
    notify(RETRIES=1, BACKOFF=0.01)
    queues = []

    def to(port):
        app = celery(f"amqp://guest:guest@127.0.0.1:{port}//")
        app.conf.broker_connection_timeout = 0.2
        queues.append(Background(dispatcher._publish))
        return queues[-1].put

    yield to
    for queue in queues:
        queue.drain()


def put(dispatch):
    start = time.perf_counter()
    dispatch(Message(kind="welcome", target="ann@example.com", request_id="request-7"))
    return time.perf_counter() - start


def test_a_broker_that_is_away_holds_up_nobody_and_the_loss_is_logged(
    publishing, eventually, logged
):
    assert put(publishing(free_port())) < 0.05

    eventually(lambda: logged("Lost"), 30)
    assert logged("Lost") == ["Lost welcome of request request-7: given up after attempt 2"]


def test_a_broker_that_hangs_holds_up_nobody(publishing, eventually, logged):
    with Mute() as server:
        assert put(publishing(server.port)) < 0.05

        eventually(lambda: logged("Lost"), 30)


@pytest.fixture
def eager(celery):
    """Celery that runs tasks where they are called, retries and all."""
    celery("memory://").conf.task_always_eager = True


def test_a_worker_gives_up_after_the_last_try(eager, ann, phone, notify, logged):
    notify(RETRIES=2, BACKOFF=0, SMS_SENDER="tests.notification.dispatchers.broken_sender")
    job = {"kind": "verify-phone", "target": phone, "request_id": "r1"}

    outcome = dispatcher.deliver.apply((job,))

    assert outcome.failed()
    assert repr(outcome.result) == "Undelivered('verify-phone')"
    assert len(logged("Could not")) == 3
    assert logged("Lost") == ["Lost verify-phone of request r1: given up after attempt 3"]


def test_a_worker_that_succeeds_says_nothing(eager, ann, logged, mailoutbox):
    outcome = dispatcher.deliver.apply(({"kind": "reset-link", "target": "ann@example.com"},))

    assert outcome.successful()
    assert len(mailoutbox) == 1
    assert logged() == []


def test_celery_finds_the_task_by_itself(celery):
    app = celery("memory://")
    app.autodiscover_tasks(["authservice.notification"], force=True)

    assert "authservice.notification.deliver" in app.tasks


def test_published_job_shows_its_kind_and_request_and_no_address(celery):
    app = celery("memory://")

    assert dispatcher._publish(
        Message(kind="welcome", target="ann@example.com", request_id="request-7"), 1
    )

    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        waiting = queue.get(timeout=5)
        queue.close()
    assert waiting.headers["argsrepr"] == "('welcome', 'request-7')"
