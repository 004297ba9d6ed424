"""Ctrl-C ends a command with one line and the status 130, and keeps the finished batches."""

import os
import signal
import subprocess
import sys
import textwrap
from importlib import import_module
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import OutputWrapper

from authservice.core.management.command_line import INTERRUPTED, STATUS
from authservice.core.models import Account, OneTimeToken
from tests.commands.proofs import ANN, BOB, CARL, old
from tests.commands.test_cleanup import DAY, SECOND, one_time_token
from tests.commands.test_progress import COMMANDS, PACKAGE, Terminal
from tests.hosts.runs import ROOT


def command(name):
    path = COMMANDS[name].relative_to(PACKAGE.parent).with_suffix("")
    return import_module(".".join(path.parts)).Command


@pytest.fixture
def interrupted():
    """`interrupted(name, *options)` runs the command as `manage.py` does; returns what it writes to
    standard error before it exits."""

    def run(name, *options, stream=StringIO):
        made = command(name)(stdout=StringIO())
        shown = stream()
        made.stderr = OutputWrapper(shown)
        # An interrupt that is not caught would end the run of all tests.
        with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
            made.run_from_argv(["manage.py", name, "--skip-checks", *options])
        assert ended.type is SystemExit
        assert ended.value.code == STATUS == 130
        return shown.getvalue()

    return run


@pytest.fixture
def interrupt_after(monkeypatch):
    """`interrupt_after(1, "module.function")`: Ctrl-C in the second call of the function."""

    def change(calls, path):
        module, _, name = path.rpartition(".")
        function, left = getattr(import_module(module), name), iter([True] * calls)

        def call(*arguments, **keys):
            if not next(left, False):
                raise KeyboardInterrupt
            return function(*arguments, **keys)

        monkeypatch.setattr(path, call)

    return change


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_can_be_interrupted(name):
    # By its text: the module of the command may not be installed.
    bases = ("(InterruptibleCommand):", "(authservice_cleanup.Command):")

    assert COMMANDS[name].read_text().partition("\nclass Command")[2].startswith(bases)


@pytest.mark.django_db(transaction=True)
def test_interrupted_cleanup_keeps_the_finished_batches(interrupted, interrupt_after, run):
    for _ in range(3):
        one_time_token(expires_at=DAY + SECOND)
    interrupt_after(2, "authservice.core.cleanup.delete")

    assert interrupted("authservice_cleanup", "--batch-size", "1") == f"{INTERRUPTED}\n"

    assert OneTimeToken.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_interrupted_sync_keeps_the_finished_batches_and_the_next_run_does_the_rest(
    interrupted, interrupt_after, monkeypatch, run
):
    for email in (ANN, BOB, CARL):
        old(email)
    interrupt_after(2, "authservice.core.users.sync._write")
    assert interrupted("authservice_sync_accounts", "--batch-size", "1") == f"{INTERRUPTED}\n"
    assert Account.objects.count() == 2
    monkeypatch.undo()

    assert "3 users: 1 account was created" in run("authservice_sync_accounts")


@pytest.mark.django_db(transaction=True)
def test_message_begins_below_the_progress_bar_on_a_terminal(interrupted, interrupt_after):
    one_time_token(expires_at=DAY + SECOND)
    interrupt_after(0, "authservice.core.cleanup.delete")

    shown = interrupted("authservice_cleanup", stream=Terminal)

    assert shown == f"\r[{'.' * 30}] 0%\n{INTERRUPTED}\n"


@pytest.mark.django_db
def test_code_that_calls_a_command_gets_the_interrupt(interrupt_after):
    interrupt_after(0, "authservice.core.cleanup.batches")

    with pytest.raises(KeyboardInterrupt):
        call_command("authservice_cleanup", stdout=StringIO(), stderr=StringIO())


WAITING = """
import signal
import time
import django

# Otherwise ignored, if it is ignored in the process that runs the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)

django.setup()
from authservice.core.management.command_line import InterruptibleCommand

class Command(InterruptibleCommand):
    requires_system_checks = []

    def handle(self, **_):
        self.stdout.write("started")
        self.stdout.flush()
        time.sleep(60)

Command().run_from_argv(["manage.py", "waiting"])
"""


def test_process_that_ctrl_c_ends_has_the_status_130_and_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(WAITING)],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert (process.returncode, errors) == (130, f"{INTERRUPTED}\n")
