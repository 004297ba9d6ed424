import json
import logging
import re
import time

import pytest

from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.notification.servers import Gateway, Sink
from tests.people import make_user

PHONE = "+4915112345678"


@pytest.fixture(autouse=True)
def _installed(settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.notification"]


@pytest.fixture
def notify(configure):
    """`notify(DISPATCHER="inline")` sets keys of the NOTIFICATION section."""

    def change(**keys):
        configure(NOTIFICATION=keys)

    return change


@pytest.fixture
def ann(db):
    """A user whose address nobody has proven."""
    return make_user(first_name="Ann")


@pytest.fixture
def proven(ann):
    """`proven(name=…)` makes Ann somebody who has proven her address and number."""

    def prove(**columns):
        account = Account.objects.get(user=ann)
        columns.setdefault("verified_email_key", account.email_key)
        columns.setdefault("proven_email_key", account.email_key)
        columns.setdefault("verified_phone_key", identifiers.phone_key(PHONE))
        _with_phone(ann, **columns)
        return ann

    return prove


@pytest.fixture
def phone(ann):
    """Ann's number, which nobody has proven."""
    _with_phone(ann)
    return PHONE


def _with_phone(user, **columns):
    columns = {"phone_number": PHONE, "phone_key": identifiers.phone_key(PHONE), **columns}
    Account.objects.filter(user=user).update(**columns)


@pytest.fixture
def deliver(mailoutbox):
    """`deliver("reset-link")` gives the mail to Ann that the job becomes. As in a queue, the job is
    JSON on its way."""

    def send(kind, target="ann@example.com", **more):
        job = json.dumps(worker.to_dict(Message(kind=kind, target=target, **more)))
        worker.deliver(worker.from_dict(json.loads(job)))
        return mailoutbox[-1]

    return send


@pytest.fixture
def sink():
    """A real mail server."""
    with Sink() as server:
        yield server


@pytest.fixture
def gateway():
    """A real web server that takes text messages."""
    with Gateway() as server:
        yield server


@pytest.fixture
def eventually():
    """`eventually(lambda: …)` waits until it is true."""

    def wait(condition, seconds=10):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it never came to pass"
            time.sleep(0.01)

    return wait


@pytest.fixture
def logged(caplog):
    """`logged("Lost")` lists the lines about messages that begin so."""
    caplog.set_level(logging.INFO, "authservice.notification")

    def lines(start=""):
        return [line for line in caplog.messages if line.startswith(start)]

    return lines


def link_in(text):
    return re.search(r"https?://\S+", text)[0]
