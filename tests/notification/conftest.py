import json
import logging
import re
import time

import pytest
from celery import Celery, _state
from kombu.transport.memory import Channel, Transport

from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.notification.servers import Gateway, Sink
from tests.support.mailing import mail_settings
from tests.support.mounted import mounted
from tests.support.people import make_user

PHONE = "+4915112345678"


@pytest.fixture(autouse=True, scope="module")
def _notification():
    # Once for a file: with each set of apps, Django reads its templates and catalogues again.
    with mounted("authservice.notification"):
        yield


@pytest.fixture(autouse=True)
def _installed(settings):
    # Where the gateways of these tests are.
    loopback = {"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]}
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "OUTBOUND": loopback}


@pytest.fixture
def notify(configure):
    """`notify(DISPATCHER="inline")` sets keys of the NOTIFICATION section."""

    def configure_section(**keys):
        configure(NOTIFICATION=keys)

    return configure_section


@pytest.fixture
def ann(db):
    """A user whose address is unverified."""
    return make_user(first_name="Ann")


@pytest.fixture
def mark_verified(ann):
    """`mark_verified(name=…)` stores that Ann has verified her address and number; returns Ann."""

    def mark(**columns):
        account = Account.objects.get(user=ann)
        columns.setdefault("verified_email_key", account.email_key)
        columns.setdefault("proven_email_key", account.email_key)
        columns.setdefault("verified_phone_key", identifiers.phone_key(PHONE))
        _with_phone(ann, **columns)
        return ann

    return mark


@pytest.fixture
def phone(ann):
    """Ann's number, which is unverified."""
    _with_phone(ann)
    return PHONE


def _with_phone(user, **columns):
    columns = {"phone_number": PHONE, "phone_key": identifiers.phone_key(PHONE), **columns}
    Account.objects.filter(user=user).update(**columns)


@pytest.fixture
def deliver(mailoutbox):
    """`deliver("reset-link")` delivers a job to Ann and returns the e-mail. The job is serialised
    as JSON, as in a queue."""

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
    """A real web server that receives text messages."""
    with Gateway() as server:
        yield server


@pytest.fixture
def eventually():
    """`eventually(lambda: …)` waits until the condition is true."""

    def wait(condition, seconds=10):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition did not become true in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def logged(caplog):
    """`logged("Lost")` lists the log lines about messages with this beginning."""
    caplog.set_level(logging.INFO, "authservice.notification")

    def lines(start=""):
        return [line for line in caplog.messages if line.startswith(start)]

    return lines


def link_in(text):
    return re.search(r"https?://\S+", text)[0]


@pytest.fixture
def mail_to(settings):
    """`mail_to(port)` makes the project send e-mail by SMTP to a port, without a timeout."""

    def change(port):
        for name, value in mail_settings("smtp", host="127.0.0.1", port=port).items():
            setattr(settings, name, value)

    return change


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
    # The broker in memory is one for the whole process: no test receives the jobs of another.
    Transport.global_state.clear()
    Channel.queues.clear()
