"""The queue in memory: what it takes, tries again, drops and leaves behind."""

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

NOW = timedelta(0)


def message(number=1):
    return Message(kind="welcome", target="ann@example.com", request_id=f"r{number}")


@pytest.fixture
def gate():
    """Holds up the thread until it is opened."""
    opened = threading.Event()
    yield opened
    opened.set()


@pytest.fixture
def queue():
    """`queue(run)` makes a queue that nothing outlives."""
    made = []

    def make(run):
        made.append(Background(run))
        return made[-1]

    yield make
    for each in made:
        each.drain(NOW)


def test_a_job_runs_off_the_thread_that_asked(queue, eventually):
    ran = []
    queue(lambda *_: ran.append(threading.current_thread()) or True).put(message())

    eventually(lambda: ran)

    assert ran[0] is not threading.current_thread()
    assert ran[0].daemon


def test_jobs_leave_in_the_order_they_came(queue, eventually):
    ran = []
    jobs = queue(lambda job, _: ran.append(job.request_id) or True)

    for number in range(50):
        jobs.put(message(number))

    eventually(lambda: len(ran) == 50)
    assert ran == [f"r{number}" for number in range(50)]


def test_no_thread_is_started_before_there_is_a_job(queue):
    before = threading.active_count()

    queue(lambda *_: True)

    assert threading.active_count() == before


def test_a_failed_job_is_tried_again_and_then_given_up(queue, notify, eventually, logged):
    notify(RETRIES=2, BACKOFF=0.01)
    attempts = []
    queue(lambda _, attempt: bool(attempts.append(attempt))).put(message())

    eventually(lambda: logged("Lost"))

    assert attempts == [1, 2, 3]
    assert logged("Lost") == ["Lost welcome of request r1: given up after attempt 3"]


def test_each_pause_is_twice_as_long(queue, notify, eventually):
    notify(RETRIES=2, BACKOFF=0.1)
    times = []
    queue(lambda *_: bool(times.append(time.monotonic()))).put(message())

    eventually(lambda: len(times) == 3)

    assert times[1] - times[0] >= 0.1
    assert times[2] - times[1] >= 0.2


def test_a_crash_in_a_job_does_not_end_the_thread(queue, notify, eventually, logged):
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
    assert "ann@example.com" not in " ".join(logged())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_was_ended_is_replaced(queue, notify, eventually):
    ran = []

    def run(job, _):
        ran.append(job.request_id)
        raise SystemExit

    jobs = queue(run)
    jobs.put(message(1))
    eventually(lambda: ran and not jobs._thread.is_alive())
    jobs.put(message(2))

    eventually(lambda: ran == ["r1", "r2"])


def test_a_full_queue_logs_the_loss_and_holds_up_nobody(queue, notify, gate, logged, eventually):
    notify(QUEUE_SIZE=2)
    begun = []
    jobs = queue(lambda *_: begun.append(1) or gate.wait())
    jobs.put(message(0))
    eventually(lambda: begun)

    start = time.perf_counter()
    for number in range(1, 5):
        jobs.put(message(number))

    assert time.perf_counter() - start < 0.05
    assert logged("Lost") == [
        "Lost welcome of request r3: the queue is full",
        "Lost welcome of request r4: the queue is full",
    ]


def test_the_end_of_the_process_waits_for_what_waits(queue):
    ran = []
    jobs = queue(lambda job, _: time.sleep(0.05) or ran.append(job.request_id) or True)
    for number in range(3):
        jobs.put(message(number))

    jobs.drain(timedelta(seconds=5))

    assert ran == ["r0", "r1", "r2"]


def test_a_job_that_waits_for_its_next_try_gets_it_at_the_end(queue, notify, logged, eventually):
    notify(BACKOFF=600)
    attempts = []
    jobs = queue(lambda _, attempt: bool(attempts.append(attempt)))
    jobs.put(message())
    eventually(lambda: attempts)

    jobs.drain(timedelta(seconds=5))

    assert attempts == [1, 2]
    assert logged("Lost") == ["Lost welcome of request r1: given up after attempt 2"]


def test_what_the_end_leaves_behind_is_logged(queue, gate, logged, eventually):
    begun = []
    jobs = queue(lambda *_: begun.append(1) or gate.wait())
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


def test_where_no_thread_can_be_started_the_loss_is_logged(queue, logged, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    queue(lambda *_: True).put(message())

    assert logged("Lost") == ["Lost welcome of request r1: there is no thread to send it"]


def script(text):
    """What a process that runs `text` prints."""
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
    return True

parent = os.getpid()
jobs = Background(say)
"""


def test_a_fork_sends_its_own_jobs_and_none_of_its_parents():
    printed, _ = script(
        PREAMBLE
        + """
jobs.put(Message(kind="one", target="a"))
jobs.put(Message(kind="two", target="a"))
child = os.fork()
jobs.put(Message(kind="three", target="a"))
if child:
    os.waitpid(child, 0)
"""
    )

    assert sorted(printed) == ["one True", "three False", "three True", "two True"]


def test_a_fork_is_not_stopped_by_a_lock_its_parent_held():
    printed, _ = script(
        PREAMBLE
        + """
jobs.put(Message(kind="one", target="a"))
with jobs._changed:
    child = os.fork()
    if not child:
        jobs.put(Message(kind="two", target="a"))
        sys.exit()
os.waitpid(child, 0)
"""
    )

    assert sorted(printed) == ["one True", "two False"]


def test_a_process_that_exits_sends_first():
    printed, _ = script(PREAMBLE + 'jobs.put(Message(kind="one", target="a"))')

    assert printed == ["one True"]


def test_a_process_that_exits_logs_what_it_could_not_send():
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
