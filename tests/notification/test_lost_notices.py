"""An attacker who fills the queue of notices keeps no owner from the link of a security notice."""

import re
from datetime import timedelta
from threading import Event

import pytest
from django.utils import timezone

from authservice.core.messages import lost_notices
from authservice.core.models import Account, OneTimeToken
from authservice.kernel.message_queue import Message
from authservice.notification import messenger, worker
from authservice.notification.dispatchers import thread
from authservice.notification.dispatchers.lanes import Lanes
from tests.client import PASSWORD
from tests.notification.conftest import PHONE
from tests.notification.dispatchers import taken
from tests.recovery.flows import ANN, NEW, CommittingApi

THIEFS = "+4930123457"
SIZE = 5
NOTICE = Message(kind="password-changed", target=ANN)


@pytest.fixture
def mail_server(monkeypatch):
    """While this is not set, the mail server takes no mail."""
    answers = Event()

    def attempt(message, number):
        assert answers.wait(10)
        return worker.attempt(message, number)

    lanes = Lanes(attempt)
    monkeypatch.setattr(thread, "lanes", lanes)
    yield answers
    for lane in (lanes.notices, lanes.waited_for):
        lane.drain(timedelta(seconds=5))


@pytest.fixture
def flood(eventually):
    """`flood()` fills the queue, beside the message that the worker holds."""

    def fill():
        messenger.messenger.send(NOTICE)
        eventually(lambda: thread.lanes.notices._current)
        for _ in range(SIZE):
            messenger.messenger.send(NOTICE)

    return fill


@pytest.mark.django_db(transaction=True)
def test_owner_gets_the_link_of_a_notice_that_a_full_queue_lost(
    api, ann, proven, notify, mail_server, flood, mailoutbox, logged, eventually, monkeypatch
):
    proven()
    token = api.log_in()["access_token"]
    notify(DISPATCHER="thread", QUEUE_SIZE=SIZE)
    flood()
    assert api.request("PUT", "profile", {"phone": THIEFS}, token=token).status == 200
    assert logged("Lost phone-changed")

    mail_server.set()
    eventually(lambda: len(mailoutbox) > SIZE and thread.lanes.notices._idle())
    OneTimeToken.objects.update(created_at=timezone.now() - timedelta(minutes=15))
    monkeypatch.setattr(lost_notices, "_next_look", 0)
    messenger.messenger.send(NOTICE)
    eventually(lambda: links(mailoutbox) and thread.lanes.notices._idle())

    [link] = links(mailoutbox)
    assert api.request("POST", "account/secure", {"token": link}).status == 200
    assert Account.objects.get(user=ann).phone_number == PHONE


def links(mails):
    return [token for mail in mails for token in re.findall(r"secure\?token=(\S+)", mail.body)]


@pytest.mark.django_db
def test_throw_away_accounts_cause_no_security_notices(configure):
    configure(
        THROTTLE={"ENABLED": False},
        NOTIFICATION={"DISPATCHER": "tests.notification.dispatchers.keep"},
    )
    taken.clear()
    api = CommittingApi()
    for number in range(3):
        token = api.sign_up(f"{number}@example.com")["access_token"]
        for old, new in ((PASSWORD, NEW), (NEW, PASSWORD)) * 2:
            body = {"old_password": old, "new_password": new}
            assert api.request("PUT", "change-password", body, token=token).status == 200

    assert {message.kind for message in taken} == {"verify-email"}
