"""The messenger dispatches enabled kinds of messages; a failing dispatcher fails no request."""

import pytest

from authservice.kernel import message_queue
from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers import messenger
from tests.notification import dispatchers

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(notify):
    """`sent(kind, **settings)` tells whether a job of this kind reaches the dispatcher."""

    def offer(kind, **keys):
        notify(DISPATCHER="tests.notification.dispatchers.keep", **keys)
        dispatchers.kept.clear()
        messenger.send(Message(kind=kind, target="ann@example.com"))
        return bool(dispatchers.kept)

    return offer


def test_welcome_emails_are_sent_only_if_enabled(sent):
    assert not sent("welcome")
    assert sent("welcome", WELCOME=True)


def test_new_device_notices_are_sent_unless_disabled(sent):
    assert sent("new-device")
    assert not sent("new-device", NEW_DEVICE=False)
    assert not sent("new-devices", NEW_DEVICE=False)


def test_other_kinds_are_always_sent(sent):
    assert sent("reset-link", WELCOME=False, NEW_DEVICE=False)


def test_text_messages_require_a_sender(notify):
    assert not message_queue.can_sms()

    notify(SMS_SENDER="console")

    assert message_queue.can_sms()


@pytest.mark.django_db(transaction=True)
def test_request_succeeds_if_the_dispatcher_fails(api, notify, caplog):
    notify(DISPATCHER="tests.notification.dispatchers.broken")

    answer = api.request(
        "POST",
        "signup",
        {"email": "ann@example.com", "password": "plum tart 42 windows"},
        headers={"X-Request-ID": "request-7"},
    )

    assert answer.status == 201
    assert "Lost verify-email of request request-7: ConnectionError at " in caplog.text
    assert "is unavailable" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_signup_sends_a_link_that_verifies_the_address(api, notify, mailoutbox):
    notify(DISPATCHER="inline")

    api.sign_up()

    [mail] = mailoutbox
    link = next(word for word in mail.body.split() if word.startswith("http"))
    path = link.removeprefix("http://testserver/auth/")
    assert api.get(path).data["status"] == "success"
