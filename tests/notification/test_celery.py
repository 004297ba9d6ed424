"""Celery as the dispatcher, with real brokers and workers, and with an unavailable broker."""

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid

import pytest
import redis
from celery import Celery, _state
from kombu import Connection

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers import celery as dispatcher
from authservice.notification.dispatchers.background import Background
from tests.hosts.runs import ROOT
from tests.notification.servers import Silent, Sink
from tests.support import needs
from tests.support.ports import free_port

RABBITMQ = os.environ.get("RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
REDIS = os.environ.get("CELERY_REDIS_URL", "redis://127.0.0.1:6379/2")
needs_rabbitmq, needs_redis = needs.service(RABBITMQ), needs.service(REDIS)
BROKERS = pytest.mark.parametrize(
    "broker",
    [
        pytest.param(RABBITMQ, id="rabbitmq", marks=needs_rabbitmq),
        pytest.param(REDIS, id="redis", marks=needs_redis),
    ],
)


class Project:
    """A web server and workers in separate processes that share a database file."""

    def __init__(self, folder, broker):
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

    def send_request(self):
        """Run a request that sends an e-mail, and wait for its end."""
        subprocess.run(
            [sys.executable, "-m", "tests.notification.celery_request"],
            **self._options(smtp_port=1),
            check=True,
            timeout=60,
        )

    def start_worker(self, smtp_port):
        """Start a worker; returns the leader of its process group."""
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
        """Kill the process group of a worker without a warning, as a power failure would."""
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
    projects = []

    def start(broker):
        projects.append(Project(tmp_path, broker))
        return projects[-1]

    yield start
    for each in projects:
        each.close()


@pytest.mark.slow
@BROKERS
def test_job_is_sent_as_an_email_by_the_worker(project, broker, sink, eventually):
    service = project(broker)
    service.start_worker(sink.port)

    service.send_request()

    eventually(lambda: sink.mails, 60)
    assert "/reset-password?token=" in sink.mails[0].get_body(("plain",)).get_content()
    # Celery logs the task, authservice the kind and the request; neither logs the address.
    assert "authservice.notification.deliver" in service.log()
    assert "ann@example.com" not in service.log()


@pytest.mark.slow
@BROKERS
def test_worker_retries_until_the_mail_server_is_available(project, broker, eventually):
    service, port = project(broker), free_port()
    service.start_worker(port)
    service.send_request()
    eventually(lambda: "attempt 2" in service.log(), 60)

    with Sink(port) as server:
        eventually(lambda: server.mails, 60)
        time.sleep(1)

        assert len(server.mails) == 1
    assert "Could not send reset-link of request request-7, attempt 1" in service.log()
    assert "ann@example.com" not in service.log()


@pytest.mark.slow
@needs_rabbitmq
def test_job_of_a_killed_worker_is_sent_by_another_worker(project, sink, eventually):
    service = project(RABBITMQ)
    with Silent() as server:
        worker = service.start_worker(server.port)
        service.send_request()
        eventually(lambda: "deliver" in service.log() and "received" in service.log(), 60)
        time.sleep(0.5)
        service.kill(worker)

    service.start_worker(sink.port)

    eventually(lambda: sink.mails, 60)


@pytest.mark.slow
@needs_redis
def test_job_in_the_broker_contains_no_secret(project):
    service = project(REDIS)

    service.send_request()

    store = redis.Redis.from_url(REDIS)
    [raw] = store.lrange(service.queue, 0, -1)
    store.delete(service.queue)
    store.close()
    queued = json.loads(raw)
    [[job], options, _] = json.loads(base64.b64decode(queued["body"]))
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
    assert queued["headers"]["argsrepr"] == "('reset-link', 'request-7')"


@pytest.fixture
def celery():
    """`celery(broker)` is the Celery app of the project, for all threads."""
    apps = []

    def start(broker):
        app = Celery("tests", broker=broker)
        app.set_current()
        app.set_default()
        apps.append(app)
        return app

    yield start
    _state._set_current_app(None)
    _state.set_default_app(None)
    for app in apps:
        app.close()


@pytest.fixture
def publishing(celery, notify):
    """`publishing(port)` is the dispatcher of a project with a broker at this port."""
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
    """The seconds for which a dispatcher blocks its caller."""
    start = time.perf_counter()
    dispatch(Message(kind="welcome", target="ann@example.com", request_id="request-7"))
    return time.perf_counter() - start


def test_unavailable_broker_does_not_block_and_the_lost_job_is_logged(
    publishing, eventually, logged
):
    assert put(publishing(free_port())) < 0.05

    eventually(lambda: logged("Lost"), 30)
    [lost] = logged("Lost")
    assert lost.startswith(
        "Lost welcome of request request-7: given up after attempt 2: Operational"
    )


def test_hanging_broker_does_not_block(publishing, eventually, logged):
    with Silent() as server:
        assert put(publishing(server.port)) < 0.05

        eventually(lambda: logged("Lost"), 30)


@pytest.fixture
def eager(celery):
    """Celery runs each task and its retries at once in the calling thread."""
    celery("memory://").conf.task_always_eager = True


def test_worker_gives_up_after_the_last_retry(eager, ann, phone, notify, logged):
    notify(RETRIES=2, BACKOFF=0, SMS_SENDER="tests.notification.dispatchers.broken_sender")
    job = {"kind": "verify-phone", "target": phone, "request_id": "r1"}

    outcome = dispatcher.deliver.apply((job,))

    assert outcome.failed()
    assert repr(outcome.result) == "Undelivered('verify-phone', 'ConnectionError')"
    assert len(logged("Could not")) == 3
    assert logged("Lost") == [
        "Lost verify-phone of request r1: given up after attempt 3: ConnectionError"
    ]


def test_successful_worker_logs_nothing(eager, ann, logged, mailoutbox):
    outcome = dispatcher.deliver.apply(({"kind": "reset-link", "target": "ann@example.com"},))

    assert outcome.successful()
    assert len(mailoutbox) == 1
    assert logged() == []


def test_celery_discovers_the_task(celery):
    app = celery("memory://")
    app.autodiscover_tasks(["authservice.notification"], force=True)

    assert "authservice.notification.deliver" in app.tasks


def test_published_job_shows_kind_and_request_but_no_address(celery):
    app = celery("memory://")

    job = Message(kind="welcome", target="ann@example.com", request_id="request-7")
    assert dispatcher._publish(job, 1) == ""

    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        queued = queue.get(timeout=5)
        queue.close()
    assert queued.headers["argsrepr"] == "('welcome', 'request-7')"
