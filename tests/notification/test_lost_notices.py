"""The owner gets the link of a security notice although an attacker fills the queue of notices."""

import re
from datetime import timedelta
from threading import Event

import pytest
from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import Account, OneTimeToken
from authservice.kernel.message_queue import Message
from authservice.notification import dispatchers, worker
from authservice.notification.dispatchers import background
from authservice.notification.dispatchers.background import Lanes
from tests.notification.conftest import PHONE
from tests.notification.dispatchers import kept
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, CommittingApi

ATTACKERS_PHONE = "+4930123457"
SIZE = 5
NOTICE = Message(kind="password-changed", target=ANN)


@pytest.fixture
def mail_server(monkeypatch):
    """An event; until it is set, the mail server accepts no e-mail."""
    answers = Event()

    def attempt(message, number):
        assert answers.wait(10)
        return worker.attempt(message, number)

    lanes = Lanes(attempt)
    monkeypatch.setattr(background, "lanes", lanes)
    yield answers
    for lane in (lanes.notices, lanes.waited_for):
        lane.drain(timedelta(seconds=5))


@pytest.fixture
def flood(eventually):
    """`flood()` fills the queue while the worker is busy with a message."""

    def fill():
        dispatchers.messenger.send(NOTICE)
        eventually(lambda: background.lanes.notices._current)
        for _ in range(SIZE):
            dispatchers.messenger.send(NOTICE)

    return fill


@pytest.mark.django_db(transaction=True)
def test_owner_gets_the_link_of_a_notice_that_a_full_queue_lost(
    api, ann, mark_verified, notify, mail_server, flood, mailoutbox, logged, eventually, monkeypatch
):
    mark_verified()
    token = api.log_in()["access_token"]
    notify(DISPATCHER="thread", QUEUE_SIZE=SIZE)
    flood()
    assert api.request("PUT", "profile", {"phone": ATTACKERS_PHONE}, token=token).status == 200
    assert logged("Lost phone-changed")

    mail_server.set()
    eventually(lambda: len(mailoutbox) > SIZE and background.lanes.notices._idle())
    now = timezone.now()
    OneTimeToken.objects.update(created_at=now - timedelta(minutes=15), resend_at=now)
    monkeypatch.setattr(security_notice, "_next_check", 0)
    dispatchers.messenger.send(NOTICE)
    eventually(lambda: links(mailoutbox) and background.lanes.notices._idle())

    [link] = links(mailoutbox)
    assert api.request("POST", "account/secure", {"token": link}).status == 200
    assert Account.objects.get(user=ann).phone_number == PHONE


def links(mails):
    return [token for mail in mails for token in re.findall(r"secure\?token=(\S+)", mail.body)]


@pytest.mark.django_db
def test_unverified_accounts_cause_no_security_notices(configure):
    configure(
        THROTTLE={"ENABLED": False},
        NOTIFICATION={"DISPATCHER": "tests.notification.dispatchers.keep"},
    )
    kept.clear()
    api = CommittingApi()
    for number in range(3):
        token = api.sign_up(f"{number}@example.com")["access_token"]
        for old, new in ((PASSWORD, NEW), (NEW, PASSWORD)) * 2:
            body = {"old_password": old, "new_password": new}
            assert api.request("PUT", "change-password", body, token=token).status == 200

    assert {message.kind for message in kept} == {"verify-email"}
