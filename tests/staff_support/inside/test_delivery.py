"""The support page says that the newest message to a user could not be sent."""

from smtplib import SMTPResponseException

import pytest

from authservice.core.messages import kinds
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.staff_support.inside.conftest import ANN, account, support_page
from tests.staff_support.inside.test_obstacles import notes

pytestmark = pytest.mark.django_db

TEXT = "The newest message could not be sent, at 12:00 (reset-link: SMTPResponseException (550))."


@pytest.fixture
def job(ann):
    return Message(kind=kinds.RESET_BY_LINK, target=ANN)


def fail(outgoing):
    raise SMTPResponseException(550, b"no such mailbox: ann@example.com, link https://x/?token=1")


def test_failed_message_is_shown_without_the_text_of_the_error(root, job, monkeypatch):
    monkeypatch.setitem(worker._SENDERS, "email", fail)

    assert worker.attempt(job, 1)

    assert TEXT in notes(root.see(support_page()))
    assert "token" not in account().mail_failure
    assert ANN not in account().mail_failure


def test_later_message_that_was_sent_ends_the_note(root, job, monkeypatch):
    with monkeypatch.context() as away:
        away.setitem(worker._SENDERS, "email", fail)
        worker.attempt(job, 1)

    assert worker.attempt(job, 2) == ""

    assert account().mail_failed_at is None
    assert not [text for text in notes(root.see(support_page())) if "could not be sent" in text]
