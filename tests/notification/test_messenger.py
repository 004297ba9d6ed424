"""Which jobs are taken, and that a queue out of order breaks no request."""

import pytest

from authservice.kernel import message_queue
from authservice.kernel.message_queue import Message
from authservice.notification.messenger import messenger
from tests.notification import dispatchers

pytestmark = pytest.mark.django_db


@pytest.fixture
def taken(notify):
    """`taken(kind, **settings)`: whether a job of this kind reaches the dispatcher."""

    def offer(kind, **keys):
        notify(DISPATCHER="tests.notification.dispatchers.keep", **keys)
        dispatchers.taken.clear()
        messenger.send(Message(kind=kind, target="ann@example.com"))
        return bool(dispatchers.taken)

    return offer


def test_new_users_are_welcomed_only_on_request(taken):
    assert not taken("welcome")
    assert taken("welcome", WELCOME=True)


def test_new_devices_are_told_of_unless_switched_off(taken):
    assert taken("new-device")
    assert not taken("new-device", NEW_DEVICE=False)
    assert not taken("new-devices", NEW_DEVICE=False)


def test_other_kinds_are_always_taken(taken):
    assert taken("reset-link", WELCOME=False, NEW_DEVICE=False)


def test_text_messages_need_a_sender(notify):
    assert not message_queue.can_sms()

    notify(SMS_SENDER="console")

    assert message_queue.can_sms()


@pytest.mark.django_db(transaction=True)
def test_a_request_outlives_a_broken_queue(api, notify, caplog):
    notify(DISPATCHER="tests.notification.dispatchers.broken")

    answer = api.request(
        "POST",
        "signup",
        {"email": "ann@example.com", "password": "plum tart 42 windows"},
        headers={"X-Request-ID": "request-7"},
    )

    assert answer.status == 201
    assert "Lost verify-email of request request-7" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_signup_mails_a_link_that_verifies(api, notify, mailoutbox):
    notify(DISPATCHER="inline")

    api.sign_up()

    [mail] = mailoutbox
    link = next(word for word in mail.body.split() if word.startswith("http"))
    path = link.removeprefix("http://testserver/auth/")
    assert api.get(path).data["status"] == "success"
