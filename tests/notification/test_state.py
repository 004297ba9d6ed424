"""A job sees the context of its request, and state that the project captures and restores."""

import threading
from contextlib import contextmanager
from contextvars import ContextVar

import pytest
from celery.signals import before_task_publish

from authservice.core.messages import kinds
from authservice.kernel import clock as source
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import dispatchers, worker
from authservice.notification.checks import check_notification
from authservice.notification.dispatchers import celery
from authservice.notification.dispatchers.background import Background

TENANT = ContextVar("tenant", default="public")
HERE = "tests.notification.test_state"
HOOKS = {"CAPTURE": f"{HERE}.capture", "RESTORE": f"{HERE}.restore"}
seen = []


class Connection(threading.local):
    """As a database connection, of which each thread has its own."""

    schema = "public"


connection = Connection()


def capture():
    return connection.schema


@contextmanager
def restore(schema):
    before, connection.schema = connection.schema, schema
    try:
        yield
    finally:
        connection.schema = before


@pytest.fixture(autouse=True)
def _clean(notify):
    seen.clear()
    notify(**HOOKS)


@pytest.fixture
def queue():
    made = []

    def make(run):
        made.append(Background(run))
        return made[-1]

    yield make
    for each in made:
        each.drain()


def job():
    return Message(kind="welcome", target="ann@example.com")


def test_job_runs_in_a_copy_of_the_context_of_its_request(queue, eventually):
    ran = []
    jobs = queue(lambda *_: ran.append(TENANT.get()) or "")
    for tenant in ("one", "two"):
        token = TENANT.set(tenant)
        jobs.put(job())
        TENANT.reset(token)

    eventually(lambda: len(ran) == 2)

    assert ran == ["one", "two"]


def test_retry_runs_in_the_same_context(queue, eventually, notify):
    notify(**HOOKS, BACKOFF=0)
    ran = []
    jobs = queue(lambda _, attempt: ran.append(TENANT.get()) or ("" if attempt == 2 else "Fault"))
    token = TENANT.set("one")
    jobs.put(job())
    TENANT.reset(token)

    eventually(lambda: len(ran) == 2)

    assert ran == ["one", "one"]


def test_job_has_a_time_of_its_own(queue, eventually):
    times = []
    with source.unit():
        began = source.now()
        queue(lambda *_: times.append((source.now(), source.now())) or "").put(job())
        eventually(lambda: times)

    [(first, second)] = times
    assert first == second
    assert first > began


def test_delivery_has_a_time_of_its_own(monkeypatch):
    """In each worker: the request that enqueued the job may be long ago, or still running."""
    monkeypatch.setattr(worker, "_deliver", lambda _: seen.append((source.now(), source.now())))
    with source.unit():
        began = source.now()
        worker.deliver(job())

    [(first, second)] = seen
    assert first == second
    assert first > began


@pytest.mark.django_db
@pytest.mark.parametrize("dispatcher", ["thread", "inline", "tasks"])
def test_job_is_delivered_with_the_captured_state(
    notify, monkeypatch, dispatcher, eventually, django_capture_on_commit_callbacks
):
    pytest.importorskip("django.tasks") if dispatcher == "tasks" else None
    notify(**HOOKS, DISPATCHER=dispatcher)
    monkeypatch.setattr(worker, "_deliver", lambda message: seen.append(connection.schema))

    with restore("tenant_one"), django_capture_on_commit_callbacks(execute=True):
        message_queue.send(kinds.VERIFY_EMAIL, "ann@example.com", Client())

    eventually(lambda: seen)
    assert seen == ["tenant_one"]
    assert connection.schema == "public"


@pytest.mark.parametrize("schema", ["", 0], ids=repr)
def test_state_that_is_false_is_restored_too(schema, monkeypatch):
    monkeypatch.setattr(worker, "_deliver", lambda message: seen.append(connection.schema))
    with restore(schema):
        message = worker.captured(job())

    worker.deliver(message)

    assert seen == [schema]


def test_project_that_captures_nothing_restores_nothing(monkeypatch):
    monkeypatch.setattr(worker, "_deliver", lambda message: seen.append(connection.schema))
    with restore(None):
        message = worker.captured(job())

    worker.deliver(message)

    assert seen == ["public"]


@pytest.fixture
def broker(celery):
    """A broker in memory."""
    celery("memory://")


@contextmanager
def noted(signal):
    """Packages for tenants read the schema of the connection when a job is published."""

    def note(**_):
        seen.append(connection.schema)

    signal.connect(note)
    try:
        yield
    finally:
        signal.disconnect(note)


def test_celery_publishes_a_job_in_the_captured_state(broker, eventually):
    with noted(before_task_publish):
        with restore("tenant_one"):
            celery.dispatch(worker.captured(job()))
        eventually(lambda: seen)

    assert seen == ["tenant_one"]


def test_task_of_django_is_published_in_the_captured_state(notify, eventually, monkeypatch):
    notify(**HOOKS, DISPATCHER="tasks")
    signals = pytest.importorskip("django.tasks.signals")
    monkeypatch.setattr(worker, "_deliver", lambda message: None)
    with noted(signals.task_enqueued):
        with restore("tenant_one"):
            dispatchers.dispatcher()(worker.captured(job()))
        eventually(lambda: seen)

    assert seen == ["tenant_one"]


@pytest.mark.parametrize("state", [{"schema": "one"}, {}, "", 0], ids=repr)
def test_state_travels_with_the_job_as_json(state):
    message = Message(kind="welcome", target="ann@example.com", state=state)

    assert worker.from_dict(worker.to_dict(message)) == message


@pytest.mark.parametrize(
    ("keys", "check"),
    [
        ({"CAPTURE": ""}, "authservice.E126"),
        ({"RESTORE": ""}, "authservice.E126"),
        ({}, None),
    ],
)
def test_check_reports_one_hook_without_the_other(notify, keys, check):
    notify(**{**HOOKS, **keys})

    found = {error.id for error in check_notification()} & {"authservice.E126"}

    assert found == ({check} if check else set())
