"""Whether Celery's broker answers, and whether workers take messages from the queues.

Imported only if `NOTIFICATION.DISPATCHER` is "celery", since this file needs the package `celery`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from celery import current_app  # type: ignore[import-untyped]

from authservice.kernel.checks import ATTENTION, BROKEN, OK, Finding, Visit, fault_of
from authservice.notification.conf import conf

_TIMEOUT = 1.5  # seconds for the replies of the workers
_CONNECT = 2.0  # seconds
_PAUSE = 0.2  # seconds before the only retry of a connection; by default kombu pauses for two
# Even in a busy minute, a worker that keeps up leaves fewer messages waiting than this number.
_MANY = 100


@dataclass(frozen=True)
class _Queues:
    """How many messages wait in each queue, and the queues that workers consume."""

    waiting: dict[str, int]
    consumed: frozenset[str]
    workers: int


def examine(visit: Visit) -> Iterator[Finding]:
    try:
        queues = visit.call(_ask_broker)
    except Exception as error:
        yield Finding(
            area="worker",
            state=BROKEN,
            text=f"Celery's broker{_place()} does not answer: {fault_of(error)}. Messages are"
            " lost after their retries.",
            settings="CELERY_BROKER_URL",
            remedy="Check that the broker runs and that this machine reaches it, such as with"
            " `celery -A PROJECT inspect ping`. (docs: running/workers)",
        )
        return
    for name, waiting in queues.waiting.items():
        command = f"`celery -A PROJECT worker --queues {name}`"
        if name not in queues.consumed:
            yield Finding(
                area="worker",
                state=BROKEN,
                text=f"No worker takes messages from the queue {name!r}, where {waiting} wait"
                f" ({queues.workers} workers answered).",
                settings="NOTIFICATION.NOTICE_QUEUE, or the option --queues of the worker",
                remedy=f"Start {command}, and keep it running by systemd or the like. (docs:"
                " running/workers)",
            )
        elif waiting >= _MANY:
            yield Finding(
                area="worker",
                state=ATTENTION,
                text=f"{waiting} messages wait in the queue {name!r}: they arrive faster than"
                " workers send them, or the mail server is slow.",
                settings="the option --concurrency of the worker",
                remedy="Look into the log of the worker. If it sends, start another one:"
                f" {command}.",
            )
        else:
            text = f"Workers take messages from the queue {name!r}, where {waiting} wait."
            yield Finding(area="worker", state=OK, text=text)


def _place() -> str:
    """Where the broker is, without its user and password; the first of several."""
    first, _, _ = str(current_app.conf.broker_url or "amqp://localhost").partition(";")
    try:
        url = urlsplit(first)
        return f" at {url.hostname or 'localhost'}:{url.port or 'default port'}"
    except ValueError:  # its text may quote a part of the password
        return ""


def _ask_broker() -> _Queues:
    names = [current_app.conf.task_default_queue, conf.notice_queue]
    waiting = {}
    with current_app.connection_for_write(connect_timeout=_CONNECT) as connection:
        connection.ensure_connection(max_retries=1, interval_start=_PAUSE, timeout=_CONNECT)
        channel = connection.default_channel
        for name in dict.fromkeys(filter(None, names)):
            waiting[name] = _number_waiting(channel, name)
        inspection = current_app.control.inspect(timeout=_TIMEOUT, connection=connection)
        active = inspection.active_queues() or {}
    consumed = frozenset(queue["name"] for queues in active.values() for queue in queues)
    return _Queues(waiting, consumed, len(active))


def _number_waiting(channel: object, name: str) -> int:
    """How many messages wait in the queue; 0 for a queue that does not exist yet."""
    connection = channel.connection.client  # type: ignore[attr-defined]
    probe = connection.channel()  # RabbitMQ closes the channel that asks for an unknown queue
    try:
        return int(probe.queue_declare(queue=name, passive=True).message_count)
    except (*connection.channel_errors,):
        return 0
    finally:
        probe.close()
