"""The queue in memory: order, retries, lost jobs, forks and the end of the process."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta

import pytest

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers.background import Background
from tests.hosts.runs import ROOT
from tests.support.blocked import blocked

NOW = timedelta(0)
DONE, FAULT = "", "SMTPServerDisconnected"


def message(number=1):
    return Message(kind="welcome", target="ann@example.com", request_id=f"r{number}")


@pytest.fixture
def gate():
    """Blocks the thread of the queue until it is set."""
    opened = threading.Event()
    yield opened
    opened.set()


@pytest.fixture
def queue():
    """`queue(run)` creates a queue, which is stopped after the test."""
    made = []

    def make(run):
        made.append(Background(run))
        return made[-1]

    yield make
    for each in made:
        each.drain(NOW)


def test_job_runs_in_another_daemon_thread(queue, eventually):
    ran = []
    queue(lambda *_: ran.append(threading.current_thread()) or DONE).put(message())

    eventually(lambda: ran)

    assert ran[0] is not threading.current_thread()
    assert ran[0].daemon


def test_jobs_run_in_the_order_of_arrival(queue, eventually):
    ran = []
    jobs = queue(lambda job, _: ran.append(job.request_id) or DONE)

    for number in range(50):
        jobs.put(message(number))

    eventually(lambda: len(ran) == 50)
    assert ran == [f"r{number}" for number in range(50)]


def test_queue_without_a_job_starts_no_thread(queue):
    before = threading.active_count()

    queue(lambda *_: DONE)

    assert threading.active_count() == before


def test_failed_job_is_retried_and_then_logged_as_lost(queue, notify, eventually, logged):
    notify(RETRIES=2, BACKOFF=0.01)
    attempts = []
    queue(lambda _, attempt: attempts.append(attempt) or FAULT).put(message())

    eventually(lambda: logged("Lost"))

    assert attempts == [1, 2, 3]
    assert logged("Lost") == [f"Lost welcome of request r1: given up after attempt 3: {FAULT}"]


def test_pause_doubles_before_each_retry(queue, notify, eventually):
    notify(RETRIES=2, BACKOFF=0.1)
    times = []
    queue(lambda *_: times.append(time.monotonic()) or FAULT).put(message())

    eventually(lambda: len(times) == 3)

    assert times[1] - times[0] >= 0.1
    assert times[2] - times[1] >= 0.2


def test_exception_in_a_job_does_not_end_the_thread(queue, notify, eventually, logged):
    notify(RETRIES=0)
    ran = []

    def run(job, _):
        ran.append(job.request_id)
        raise ZeroDivisionError("ann@example.com")

    jobs = queue(run)
    jobs.put(message(1))
    jobs.put(message(2))

    eventually(lambda: len(logged("Lost")) == 2)
    assert ran == ["r1", "r2"]
    [line] = logged("Could not send welcome of request r1, attempt 1: ZeroDivisionError at ")
    assert line.partition(" at ")[2].startswith(__file__)
    assert "Lost welcome of request r1: given up after attempt 1: ZeroDivisionError" in logged()
    assert "ann@example.com" not in " ".join(logged())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_ended_thread_is_replaced(queue, notify, eventually):
    ran = []

    def run(job, _):
        ran.append(job.request_id)
        raise SystemExit

    jobs = queue(run)
    jobs.put(message(1))
    eventually(lambda: ran and not jobs._thread.is_alive())
    jobs.put(message(2))

    eventually(lambda: ran == ["r1", "r2"])


def test_full_queue_logs_lost_jobs_and_does_not_block(queue, notify, gate, logged, eventually):
    notify(QUEUE_SIZE=2)
    begun = []
    jobs = queue(lambda *_: begun.append(1) or gate.wait() and DONE)
    jobs.put(message(0))
    eventually(lambda: begun)

    assert blocked(lambda: [jobs.put(message(number)) for number in range(1, 5)]) < 0.05
    assert logged("Lost") == [
        "Lost welcome of request r3: the queue is full",
        "Lost welcome of request r4: the queue is full",
    ]


def test_drain_runs_the_queued_jobs(queue):
    ran = []
    jobs = queue(lambda job, _: time.sleep(0.05) or ran.append(job.request_id) or DONE)
    for number in range(3):
        jobs.put(message(number))

    jobs.drain(timedelta(seconds=5))

    assert ran == ["r0", "r1", "r2"]


def test_drain_runs_a_job_that_waits_for_its_retry(queue, notify, logged, eventually):
    notify(BACKOFF=600)
    attempts = []
    jobs = queue(lambda _, attempt: attempts.append(attempt) or FAULT)
    jobs.put(message())
    eventually(lambda: attempts)

    jobs.drain(timedelta(seconds=5))

    assert attempts == [1, 2]
    assert logged("Lost") == [f"Lost welcome of request r1: given up after attempt 2: {FAULT}"]


def test_jobs_that_drain_cannot_run_are_logged_as_lost(queue, gate, logged, eventually):
    begun = []
    jobs = queue(lambda *_: begun.append(1) or gate.wait() and DONE)
    jobs.put(message(1))
    jobs.put(message(2))
    eventually(lambda: begun)

    jobs.drain(NOW)
    jobs.put(message(3))

    assert logged("Lost") == [
        "Lost welcome of request r1: the process ended",
        "Lost welcome of request r2: the process ended",
        "Lost welcome of request r3: the process is ending",
    ]


def test_job_is_logged_as_lost_if_no_thread_can_be_started(queue, logged, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    queue(lambda *_: DONE).put(message())

    assert logged("Lost") == ["Lost welcome of request r1: there is no thread to send it"]


def script(text):
    """The output lines and the errors of a process that runs `text`."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(text)],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run.stdout.splitlines(), run.stderr


PREAMBLE = """
import os, sys, time, django
django.setup()
from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers.background import Background

def say(job, attempt):
    time.sleep(0.2)
    os.write(1, f"{job.kind} {os.getpid() == parent}\\n".encode())
    return ""

parent = os.getpid()
jobs = Background(say)
"""


FORKING = """
jobs.put(Message(kind="one", target="a"))
jobs.put(Message(kind="two", target="a"))
child = os.fork()
jobs.put(Message(kind="three", target="a"))
if not child:
    sys.exit()
os.waitpid(child, 0)

jobs.put(Message(kind="before lock", target="a"))
with jobs._changed:
    child = os.fork()
    if not child:
        jobs.put(Message(kind="in lock", target="a"))
        sys.exit()
os.waitpid(child, 0)

jobs.put(Message(kind="last", target="a"))
"""


@pytest.fixture(scope="module")
def sent():
    """The jobs that a process and its forks sent, and whether the parent sent them."""
    printed, _ = script(PREAMBLE + FORKING)
    return sorted(printed)


def test_forked_process_sends_only_its_own_jobs(sent):
    jobs = [line for line in sent if line.startswith(("one", "two", "three"))]

    assert jobs == ["one True", "three False", "three True", "two True"]


def test_forked_process_is_not_blocked_by_a_lock_of_its_parent(sent):
    assert [line for line in sent if "lock" in line] == ["before lock True", "in lock False"]


def test_exiting_process_sends_its_jobs_first(sent):
    assert [line for line in sent if line.startswith("last")] == ["last True"]


def test_exiting_process_logs_jobs_that_it_could_not_send():
    _, errors = script(
        PREAMBLE.replace("0.2", "600").replace("Background(say)", "Background(say)\n")
        + """
import atexit
from datetime import timedelta
atexit.unregister(jobs.drain)
atexit.register(jobs.drain, timedelta(seconds=0.2))
jobs.put(Message(kind="one", target="a", request_id="r1"))
"""
    )

    assert "Lost one of request r1: the process ended" in errors
