"""E-mail by SMTP to servers that work, refuse, hang or abort; requests never wait for them."""

import pytest

from authservice.core.models import Account
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.dispatchers import background
from authservice.notification.dispatchers.background import Background
from tests.notification.servers import Silent, Sink
from tests.support.blocked import blocked
from tests.support.ports import free_port

CLIENT = Client(request_id="request-7")
QUICK = {"DISPATCHER": "thread", "RETRIES": 3, "BACKOFF": 0.05, "EMAIL_TIMEOUT": 0.2}


@pytest.fixture
def ann(transactional_db, ann, monkeypatch):
    """Ann, and a queue that is drained after the test."""
    queue = Background(worker.attempt)
    monkeypatch.setattr(background, "dispatch", queue.put)
    yield ann
    queue.drain()


def send(kind="reset-link"):
    """The seconds for which sending an e-mail blocks the caller."""
    return blocked(lambda: message_queue.send(kind, "ann@example.com", CLIENT))


def test_email_is_delivered(ann, sink, mail_to, notify, eventually):
    notify(**QUICK)
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


def test_line_breaks_in_names_add_no_header_on_the_wire(ann, mark_verified, sink, mail_to, notify):
    mark_verified(name="Ann\r\nBcc: eve@example.com\r\n\r\n<script>")
    notify(BRAND={"name": "Shop\r\nBcc: eve@example.com"})
    mail_to(sink.port)

    worker.deliver(Message(kind="welcome", target="ann@example.com"))

    [mail] = sink.mails
    assert sink.recipients == [["ann@example.com"]]
    assert "Bcc" not in mail
    assert mail["Subject"] == "Welcome to Shop Bcc: eve@example.com"


def test_refusing_server_does_not_block_and_the_lost_email_is_logged(
    ann, mail_to, notify, eventually, logged
):
    notify(**QUICK)
    mail_to(free_port())

    assert send() < 0.05

    eventually(lambda: logged("Lost"))
    [lost] = logged("Lost")
    assert lost.startswith(
        "Lost reset-link of request request-7: given up after attempt 4: ConnectionRefusedError"
        " from the mail server 127.0.0.1:"
    )
    entries = logged("Could not send reset-link of request request-7, attempt")
    assert len(entries) == 4
    assert all(" from the mail server 127.0.0.1:" in entry for entry in entries)
    assert "ConnectionRefusedError" in logged("Could not")[0]


def test_hanging_server_does_not_block(ann, mail_to, notify, eventually, logged):
    notify(**{**QUICK, "RETRIES": 1})
    with Silent() as server:
        mail_to(server.port)

        assert send() < 0.05

        eventually(lambda: logged("Lost"))
    [lost] = logged("Lost")
    assert lost.startswith(
        "Lost reset-link of request request-7: given up after attempt 2: SMTPServerDisconnected"
        " caused by TimeoutError from the mail server 127.0.0.1:"
    )


def test_aborted_transmission_is_retried(ann, sink, mail_to, notify, eventually, logged):
    notify(**QUICK)
    sink.to_abort = 2
    mail_to(sink.port)

    assert send() < 0.05

    eventually(lambda: sink.mails)
    assert sink.aborted == 2
    assert len(sink.mails) == 1
    assert logged("Lost") == []


def test_greylisted_recipient_is_retried(ann, sink, mail_to, notify, eventually, logged):
    notify(**{**QUICK, "RETRIES": 100})
    sink.refusal = "451 4.7.1 greylisted, try again later"
    mail_to(sink.port)

    send()
    eventually(lambda: logged("Could not"))
    sink.refusal = ""

    eventually(lambda: sink.mails)
    assert "SMTPRecipientsRefused (451)" in logged("Could not")[0]
    assert logged("Lost") == []


def test_recipient_refused_for_good_is_not_retried(ann, sink, mail_to, notify, eventually, logged):
    notify(**QUICK)
    sink.refusal = "550 5.1.1 no such mailbox"
    mail_to(sink.port)

    send()

    eventually(lambda: logged("Lost"))
    [entry] = logged("Could not")
    assert "attempt 1: SMTPRecipientsRefused (550)" in entry
    [lost] = logged("Lost")
    assert lost.startswith(
        "Lost reset-link of request request-7: the mail server refuses the recipient:"
        " SMTPRecipientsRefused (550) from the mail server 127.0.0.1:"
    )
    assert Account.objects.get().mail_failure == "reset-link: SMTPRecipientsRefused (550)"


def test_email_is_sent_when_the_server_is_available_again(ann, mail_to, notify, eventually, logged):
    notify(**{**QUICK, "RETRIES": 100})
    port = free_port()
    mail_to(port)

    send()
    eventually(lambda: logged("Could not"))
    with Sink(port) as server:
        eventually(lambda: server.mails)

    assert logged("Lost") == []


def test_other_emails_are_sent_while_one_waits_for_its_retry(
    ann, sink, mail_to, notify, eventually, logged
):
    notify(**{**QUICK, "BACKOFF": 600})
    mail_to(free_port())
    send()
    eventually(lambda: logged("Could not"))

    mail_to(sink.port)
    send("verify-email")

    eventually(lambda: sink.mails)


def test_log_contains_neither_address_nor_secret(
    ann, sink, mail_to, notify, eventually, logged, caplog
):
    caplog.set_level("DEBUG")
    notify(**QUICK)
    sink.refusal = "550 no such mailbox: ann@example.com"
    mail_to(sink.port)

    send()

    eventually(lambda: logged("Lost"))
    # The mail server runs in this process and logs what it receives.
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("mail."))
    assert "SMTPRecipientsRefused" in ours
    assert "ann@example.com" not in ours
    assert "token=" not in ours


def test_email_with_a_line_break_in_its_sender_is_not_sent(
    ann, sink, mail_to, notify, eventually, logged
):
    notify(**{**QUICK, "RETRIES": 0, "FROM_EMAIL": "a@example.com\nBcc: eve@example.com"})
    mail_to(sink.port)

    send()

    eventually(lambda: logged("Lost"))
    assert sink.mails == []
    assert "eve" not in " ".join(logged())
