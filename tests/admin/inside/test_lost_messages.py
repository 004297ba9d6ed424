"""Django admin lists messages that were given up, and staff send them again."""

import pytest
from django.contrib.admin.models import LogEntry

from authservice.core.messages import lost_messages
from authservice.core.models import LostMessage
from authservice.kernel import modules
from authservice.kernel.message_queue import Message, Messenger
from tests.admin.inside.conftest import listed, page
from tests.support.people import the_user

pytestmark = pytest.mark.django_db(transaction=True)

REASON = "given up after attempt 9: SMTPServerDisconnected"


class _Queue(Messenger):
    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)


@pytest.fixture
def queue():
    found = _Queue()
    with modules.plugged("messenger", found):
        yield found


@pytest.fixture
def lost(ann):
    """`lost("reset-link")` is a message of this kind to Ann that was given up."""

    def lose(kind="reset-link", email="ann@example.com", **details):
        message = Message(kind=kind, target=email, request_id="request-7", details=details)
        job = {"kind": kind, "target": email, "request_id": "request-7", "details": details}
        lost_messages.keep(message, job, REASON)
        return LostMessage.objects.get(kind=kind, recipient=email)

    return lose


def test_list_and_page_say_what_was_lost_and_why(root, lost):
    row = lost(secret_detail="198.51.100.7")

    for shown in (root.see(listed("lostmessage")), root.see(page(row))):
        assert "reset-link" in shown
        assert "ann@example.com" in shown
        assert REASON in shown
    assert "request-7" in root.see(page(row))
    assert "198.51.100.7" not in root.see(page(row))


def test_staff_send_messages_again(root, lost, queue):
    rows = [lost("reset-link"), lost("verify-email")]
    queue.sent.clear()

    answer = root.act("lostmessage", "send_again", *rows)

    assert {message.kind for message in queue.sent} == {"reset-link", "verify-email"}
    assert {message.target for message in queue.sent} == {"ann@example.com"}
    assert "2 messages are sent again" in answer.content.decode()
    assert LogEntry.objects.filter(change_message="Sent again.").count() == 2


def test_message_that_was_sent_again_is_skipped(root, lost, queue):
    row = lost()
    root.act("lostmessage", "send_again", row)
    queue.sent.clear()

    answer = root.act("lostmessage", "send_again", row)

    assert queue.sent == []
    assert "Skipped 1 message" in answer.content.decode()


def test_filter_shows_messages_that_were_not_sent_again(root, lost, queue):
    lost("verify-email")
    root.act("lostmessage", "send_again", lost("reset-link"))

    shown = root.ask(f"{listed('lostmessage')}?sent_again=no").context["cl"].queryset

    assert [row.kind for row in shown] == ["verify-email"]


def test_staff_without_the_permission_to_change_messages_send_none(helper, lost, queue):
    row = lost()
    queue.sent.clear()
    viewer = helper("view_lostmessage")

    assert "reset-link" in viewer.see(listed("lostmessage"))
    viewer.act("lostmessage", "send_again", row)

    assert queue.sent == []


def test_message_to_a_super_admin_is_sent_again_by_superusers_only(helper, root, lost, queue):
    row = lost()
    account = the_user("ann@example.com").authservice_account
    account.is_super_admin = True
    account.save()
    queue.sent.clear()

    helper("change_lostmessage").act("lostmessage", "send_again", row)
    assert queue.sent == []

    root.act("lostmessage", "send_again", row)
    assert len(queue.sent) == 1


def test_message_without_an_account_is_sent_again(helper, lost, queue):
    row = lost("invitation", "eve@example.com")
    queue.sent.clear()

    helper("change_lostmessage").act("lostmessage", "send_again", row)

    assert [message.target for message in queue.sent] == ["eve@example.com"]
