"""Mail over the wire, to servers that work, refuse, hang or break off; nobody waits for them."""

import time

import django
import pytest

from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.dispatchers import thread
from authservice.notification.dispatchers.background import Background
from tests.notification.servers import Mute, Sink, free_port

CLIENT = Client(request_id="request-7")
SOON = {"DISPATCHER": "thread", "RETRIES": 3, "BACKOFF": 0.05, "EMAIL_TIMEOUT": 0.2}


@pytest.fixture
def mail_to(settings):
    """`mail_to(port)` lets the project mail by SMTP, with as long a timeout as Django's: none."""

    def change(port):
        backend = "django.core.mail.backends.smtp.EmailBackend"
        if django.VERSION >= (6, 1):
            options = {"host": "127.0.0.1", "port": port}
            settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": options}}
            return
        settings.EMAIL_BACKEND = backend
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port

    return change


@pytest.fixture
def ann(transactional_db, ann, monkeypatch):
    """Ann, and a queue that leaves nothing behind for the next test."""
    queue = Background(worker.attempt)
    monkeypatch.setattr(thread, "dispatch", queue.put)
    yield ann
    queue.drain()


def send(kind="reset-link"):
    """How long a request is held up by asking for a mail."""
    start = time.perf_counter()
    message_queue.send(kind, "ann@example.com", CLIENT)
    return time.perf_counter() - start


def test_a_mail_arrives(ann, sink, mail_to, notify, eventually):
    notify(**SOON)
    mail_to(sink.port)

    send()

    eventually(lambda: sink.mails)
    [mail] = sink.mails
    assert sink.recipients == [["ann@example.com"]]
    assert mail["To"] == "ann@example.com"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert "/reset-password?token=" in mail.get_body(("plain",)).get_content()


def test_a_hostile_name_adds_no_header_on_the_wire(ann, proven, sink, mail_to, notify):
    proven(name="Ann\r\nBcc: eve@example.com\r\n\r\n<script>")
    notify(BRAND={"name": "Shop\r\nBcc: eve@example.com"})
    mail_to(sink.port)

    worker.deliver(Message(kind="welcome", target="ann@example.com"))

    [mail] = sink.mails
    assert sink.recipients == [["ann@example.com"]]
    assert "Bcc" not in mail
    assert mail["Subject"] == "Welcome to Shop Bcc: eve@example.com"


def test_a_server_that_refuses_holds_up_nobody_and_the_loss_is_logged(
    ann, mail_to, notify, eventually, logged
):
    notify(**SOON)
    mail_to(free_port())

    assert send() < 0.05

    eventually(lambda: logged("Lost"))
    assert logged("Lost") == ["Lost reset-link of request request-7: given up after attempt 4"]
    assert len(logged("Could not send reset-link of request request-7, attempt")) == 4
    assert "ConnectionRefusedError" in logged("Could not")[0]


def test_a_server_that_hangs_holds_up_nobody(ann, mail_to, notify, eventually, logged):
    notify(**{**SOON, "RETRIES": 1})
    with Mute() as server:
        mail_to(server.port)

        assert send() < 0.05

        eventually(lambda: logged("Lost"))
    assert logged("Lost") == ["Lost reset-link of request request-7: given up after attempt 2"]


def test_a_mail_broken_off_in_its_middle_is_sent_again(
    ann, sink, mail_to, notify, eventually, logged
):
    notify(**SOON)
    sink.breaking = 2
    mail_to(sink.port)

    assert send() < 0.05

    eventually(lambda: sink.mails)
    assert sink.broken_off == 2
    assert len(sink.mails) == 1
    assert logged("Lost") == []


def test_a_mail_leaves_when_the_server_is_back(ann, mail_to, notify, eventually, logged):
    notify(**{**SOON, "RETRIES": 100})
    port = free_port()
    mail_to(port)

    send()
    eventually(lambda: logged("Could not"))
    with Sink(port) as server:
        eventually(lambda: server.mails)

    assert logged("Lost") == []


def test_others_are_served_while_one_waits_for_its_next_try(
    ann, sink, mail_to, notify, eventually, logged
):
    notify(**{**SOON, "BACKOFF": 600})
    mail_to(free_port())
    send()
    eventually(lambda: logged("Could not"))

    mail_to(sink.port)
    send("verify-email")

    eventually(lambda: sink.mails)


def test_the_log_names_neither_address_nor_secret(
    ann, sink, mail_to, notify, eventually, logged, caplog
):
    caplog.set_level("DEBUG")
    notify(**SOON)
    sink.refusal = "550 no such mailbox: ann@example.com"
    mail_to(sink.port)

    send()

    eventually(lambda: logged("Lost"))
    # The server of the test is in this process too, and tells the log what it is told.
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("mail."))
    assert "SMTPRecipientsRefused" in ours
    assert "ann@example.com" not in ours
    assert "token=" not in ours


def test_an_address_that_is_no_header_is_lost_and_harms_nobody(
    ann, sink, mail_to, notify, eventually, logged
):
    notify(**{**SOON, "RETRIES": 0, "FROM_EMAIL": "a@example.com\nBcc: eve@example.com"})
    mail_to(sink.port)

    send()

    eventually(lambda: logged("Lost"))
    assert sink.mails == []
    assert "eve" not in " ".join(logged())
