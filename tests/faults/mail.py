"""Faults of the mail server and of the message broker, and killed workers."""

from __future__ import annotations

import os
import signal
import time

from tests.faults.world import AWAY, Fault, World
from tests.notification.servers import Silent


def refusing(world: World) -> None:
    """Nothing listens at the port."""
    world.mailbox.stop()
    time.sleep(AWAY)
    world.mailbox.start()


def hanging(world: World) -> None:
    """The server accepts connections and does not respond."""
    world.mailbox.stop()
    with Silent(world.mailbox.port):
        time.sleep(AWAY)
    world.mailbox.start()


def dropping(world: World) -> None:
    """The connection breaks when the text of the mail was sent."""
    world.mailbox.to_abort = world.mailbox.aborted + 20
    time.sleep(AWAY)
    world.mailbox.to_abort = 0


def greylisting(world: World) -> None:
    """The server refuses each recipient for a time."""
    world.mailbox.refusal = "451 4.7.1 greylisted, try again later"
    time.sleep(AWAY)
    world.mailbox.refusal = ""


def killed(world: World) -> None:
    """A worker process is killed in the middle of its requests; gunicorn starts another one."""
    os.kill(world.random.choice(sorted(world.service.workers())), signal.SIGKILL)
    time.sleep(AWAY)


def waiting(world: World) -> None:
    time.sleep(AWAY)


FAULTS = {
    "mail-refusing": Fault(refusing, unnoticed=True),
    "mail-hanging": Fault(hanging, unnoticed=True),
    "mail-dropping": Fault(dropping, unnoticed=True),
    "mail-greylisting": Fault(greylisting, unnoticed=True),
    "worker-killed": Fault(killed, kills_workers=True),
}
