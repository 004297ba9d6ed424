"""Celery as the dispatcher, with real brokers and workers, and with an unavailable broker."""

import base64
import json
import time

import pytest
import redis

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers import celery as dispatcher
from authservice.notification.dispatchers.background import Background
from tests.notification.celery_project import (
    RABBITMQ,
    REDIS,
    CeleryProject,
    needs_rabbitmq,
    needs_redis,
)
from tests.notification.servers import Silent, Sink
from tests.support.blocked import blocked
from tests.support.ports import free_port

BROKERS = pytest.mark.parametrize(
    "broker",
    [
        pytest.param(RABBITMQ, id="rabbitmq", marks=needs_rabbitmq),
        pytest.param(REDIS, id="redis", marks=needs_redis),
    ],
)


@pytest.fixture
def project(tmp_path):
    projects = []

    def start(broker, **variables):
        projects.append(CeleryProject(tmp_path, broker, **variables))
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
@BROKERS
def test_job_is_sent_with_the_state_and_the_language_of_its_request(
    project, broker, sink, eventually
):
    """The worker has neither by itself: it is another process."""
    service = project(broker, TEST_LANGUAGE="de")
    service.start_worker(sink.port)

    service.send_request()

    eventually(lambda: sink.mails, 60)
    [mail] = sink.mails
    assert mail["X-Tenant"] == "acme"
    assert "Passwort" in mail["Subject"]


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
def publishing(celery, notify):
    """`publishing(port)` is the dispatcher of a project with a broker at this port."""
    notify(RETRIES=1, BACKOFF=0.01)
    queues = []

    def to(port):
        app = celery(f"amqp://guest:guest@127.0.0.1:{port}//")
        app.conf.broker_connection_timeout = 0.2
        # By default Celery waits two seconds and more before it connects again.
        app.conf.broker_transport_options = {"interval_start": 0.1, "interval_max": 0.1}
        queues.append(Background(dispatcher._publish))
        return queues[-1].put

    yield to
    for queue in queues:
        queue.drain()


def put(dispatch):
    """The seconds for which a dispatcher blocks its caller."""
    message = Message(kind="welcome", target="ann@example.com", request_id="request-7")
    return blocked(lambda: dispatch(message))


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
