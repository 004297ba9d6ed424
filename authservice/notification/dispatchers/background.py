"""An in-memory queue with one thread, so that no request waits for a mail server.

A failed job is retried later while other jobs continue. The thread starts with the first job, in
the process that received it: a forked child inherits neither the thread nor the parent's jobs.
When the process ends, waiting jobs get a few seconds; the rest are logged as lost.

There are two queues, so that a message that a user waits for never waits behind notices. An
attacker can trigger any number of notices. The queue of notices has its own thread and size: if it
is full or slow, links and codes are still sent.

`dispatch` is the dispatcher "thread": it requires no other service; a crash loses the queue.
"""

from __future__ import annotations

import atexit
import heapq
import os
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import connections

from authservice.kernel import clock
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.conf import conf, pause
from authservice.notification.worker import failed, give_up, lose, lost

_PATIENCE = timedelta(seconds=5)


@dataclass(order=True)
class _Job:
    due: float
    number: int  # if two jobs are due at the same time, the older one runs first
    message: Message = field(compare=False)
    # A copy of the context of the request, in which the job runs.
    context: Context = field(compare=False)
    attempt: int = field(default=1, compare=False)


class Background:
    """One queue and its thread. `run(message, attempt)` returns the fault for which the job must be
    retried, or "" if the job is done; `put` never waits for `run`."""

    def __init__(self, run: Callable[[Message, int], str]) -> None:
        self._run = run
        self._reset()
        os.register_at_fork(after_in_child=self._reset)
        atexit.register(self.drain)

    def _reset(self) -> None:
        # A lock that another thread held during the fork would stay locked in the child.
        self._changed = threading.Condition()
        self._waiting: list[_Job] = []
        self._current: _Job | None = None
        self._thread: threading.Thread | None = None
        self._count = 0
        self._closing = False

    def put(self, message: Message, delay: timedelta = timedelta(0)) -> None:
        """Enqueue the job, or give it up if the queue is full. It runs after the delay, or when the
        process ends."""
        with self._changed:
            refusal = self._refusal()
            if not refusal:
                self._count += 1
                due = time.monotonic() + delay.total_seconds()
                self._push(_Job(due, self._count, message, copy_context()))
        if refusal:
            lose(message, refusal)

    def drain(self, patience: timedelta = _PATIENCE) -> None:
        """Run the waiting jobs now, log those that do not finish in time, and accept no further
        jobs."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(self._idle, patience.total_seconds())
            unfinished = [job for job in (self._current, *self._waiting) if job]
            self._waiting.clear()
        for job in unfinished:
            lost(job.message, "the process ended")

    def _refusal(self) -> str:
        """Why no job is accepted, or "" once a thread is running: starts one if necessary."""
        if self._closing:
            return "the process is ending"
        if len(self._waiting) >= conf.queue_size:
            return "the queue is full"
        if self._thread is not None and self._thread.is_alive():
            return ""
        thread = threading.Thread(target=self._work, name="authservice-mail", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return "there is no thread to send it"
        self._thread = thread
        return ""

    def _push(self, job: _Job) -> None:
        heapq.heappush(self._waiting, job)
        self._changed.notify_all()

    def _idle(self) -> bool:
        return not self._waiting and self._current is None

    def _work(self) -> None:
        while True:
            job = self._next()
            try:
                self._conclude(job, self._tried(job))
            finally:
                with self._changed:
                    self._current = None
                    self._changed.notify_all()

    def _next(self) -> _Job:
        """Wait until a job is due. When the process ends, all jobs are due."""
        with self._changed:
            while not (self._waiting and self._due()):
                first = self._waiting[0] if self._waiting else None
                self._changed.wait(max(0.0, first.due - time.monotonic()) if first else None)
            self._current = heapq.heappop(self._waiting)
            return self._current

    def _due(self) -> bool:
        return self._closing or self._waiting[0].due <= time.monotonic()

    def _tried(self, job: _Job) -> str:
        """Run the job; returns its fault, or "" if it is done."""
        try:
            return job.context.run(self._run_in_unit, job)
        except Exception as error:
            return failed(job.message, job.attempt, error)
        finally:
            # Otherwise each process would keep an idle connection open for hours.
            connections.close_all()

    def _run_in_unit(self, job: _Job) -> str:
        with clock.unit():  # otherwise `clock.now` would return the time of the request
            return self._run(job.message, job.attempt)

    def _conclude(self, job: _Job, fault: str) -> None:
        """After a fault, run the job again later, or give it up after its last attempt."""
        if not fault:
            return
        if self._closing or job.attempt > conf.retries:
            try:
                job.context.run(give_up, job.message, job.attempt, fault)
            finally:
                connections.close_all()
            return
        due = time.monotonic() + pause(job.attempt).total_seconds()
        with self._changed:
            self._push(_Job(due, job.number, job.message, job.context, job.attempt + 1))


class Lanes:
    """The two queues. `run` is described at `Background`; `put` never waits for `run`."""

    def __init__(self, run: Callable[[Message, int], str]) -> None:
        # When the process ends, `atexit` first drains the queue that was created last.
        self.notices = Background(run)
        self.waited_for = Background(run)

    def put(self, message: Message, delay: timedelta = timedelta(0)) -> None:
        """Enqueue the job; it runs after the delay."""
        lane = self.notices if message.is_notice else self.waited_for
        lane.put(message, delay)

    def drain(self) -> None:
        self.waited_for.drain()
        self.notices.drain()


lanes = Lanes(worker.attempt)


def dispatch(message: Message) -> None:
    lanes.put(message, message.delay)
