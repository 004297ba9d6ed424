"""A security notice that a queue lost is sent again with its link, which undoes the change."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import TestCase

from authservice.core.messages import compose, kinds, security_notice
from authservice.core.models import OneTimeToken
from tests.core.recovery.thief import THIEFS_PHONE, Thief
from tests.support.client import PASSWORD
from tests.support.flows import ANN, PHONE, account, prove
from tests.support.messenger.post import query

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"


@pytest.fixture
def thief(clock, flows, proven):
    return Thief(flows, proven["access_token"])


@pytest.fixture
def send_again(post):
    """`send_again()` returns the jobs that it enqueues."""

    def run():
        post.jobs.clear()
        with TestCase.captureOnCommitCallbacks(execute=True):
            number = security_notice.send_again()
        assert number == len(post.jobs)
        return list(post.jobs)

    return run


def change_number(thief, phone=THIEFS_PHONE):
    assert thief.put(phone=phone).status == 200
    return thief.post.jobs.pop()  # the queue loses the job


def token_in(message):
    return query(message.context["link"].reveal())["token"]


def secure(api, message):
    return api.request("POST", "account/secure", {"token": token_in(message)})


def test_owner_gets_the_link_of_a_lost_notice_and_undoes_the_change(api, thief, send_again, clock):
    lost = change_number(thief)
    clock.forward(minutes=15)

    [job] = send_again()

    assert (job.kind, job.target, job.request_id) == (lost.kind, ANN, lost.request_id)
    message = compose.compose(job)
    assert message.to == ANN
    assert message.context["ip_address"] == "127.0.0.1"
    assert secure(api, message).status == 200
    assert account().phone_number == PHONE


def test_notice_is_not_sent_again_before_15_minutes(thief, send_again, clock):
    change_number(thief)
    clock.forward(minutes=14, seconds=59)

    assert send_again() == []


def test_pauses_between_attempts_double_and_end_with_the_link(thief, send_again, clock):
    clock.stand_still()  # each look is exactly at the end of a pause
    change_number(thief)
    sent_at, minutes = [], 0
    while minutes < 80 * 60:
        clock.forward(minutes=5)
        minutes += 5
        sent_at += [minutes] * len(send_again())

    assert sent_at == [15 * 2**attempt for attempt in range(9)]
    assert sent_at[-1] < 71 * 60


def test_missed_attempts_are_not_made_up_for(thief, send_again, clock):
    change_number(thief)
    clock.forward(minutes=119)
    assert len(send_again()) == 1

    clock.forward(minutes=14)
    assert send_again() == []
    clock.forward(hours=2)
    assert len(send_again()) == 1


def test_notice_whose_link_was_issued_is_not_sent_again(thief, send_again, clock):
    compose.compose(change_number(thief))
    clock.forward(hours=1)

    assert send_again() == []


def test_late_job_of_a_notice_leaves_the_link_that_was_sent_meanwhile(
    api, thief, send_again, clock
):
    late = change_number(thief)
    clock.forward(minutes=15)
    sent = compose.compose(send_again()[0])

    assert compose.compose(late) is None
    assert secure(api, sent).status == 200


def test_second_job_of_a_notice_leaves_the_link_of_the_first(api, thief, send_again, clock):
    late = change_number(thief)
    clock.forward(minutes=15)
    [again] = send_again()
    sent = compose.compose(late)

    assert compose.compose(again) is None
    assert secure(api, sent).status == 200


def test_retry_of_a_job_issues_its_link_anew(api, thief, send_again, clock):
    change_number(thief)
    clock.forward(minutes=15)
    [job] = send_again()
    compose.compose(job)

    assert secure(api, compose.compose(job)).status == 200


def test_notice_that_an_earlier_link_ended_is_not_sent_again(api, thief, send_again, clock):
    first = compose.compose(change_number(thief))
    change_number(thief, "+4930123499")
    secure(api, first)
    clock.forward(hours=1)

    assert send_again() == []


def test_notice_says_how_long_its_link_still_works(thief, send_again, clock):
    assert compose.compose(change_number(thief)).context["expires_in"] == timedelta(hours=72)
    change_number(thief, "+4930123499")
    clock.forward(hours=10)

    [job] = send_again()

    assert compose.compose(job).context["expires_in"] == timedelta(hours=62)


def test_account_with_many_lost_notices_does_not_delay_those_of_others(
    api, thief, send_again, clock, monkeypatch
):
    for phone in (THIEFS_PHONE, PHONE, "+4930123499"):
        change_number(thief, phone)
        clock.forward(seconds=1)
    token = api.sign_up(BEN)["access_token"]
    prove(BEN)
    body = {"old_password": PASSWORD, "new_password": "fig biscuit 17 lanterns"}
    assert api.request("PUT", "change-password", body, token=token).status == 200
    clock.forward(minutes=15)
    monkeypatch.setattr(security_notice, "BATCH", 2)

    assert {job.target for job in send_again()} == {ANN, BEN}


def test_next_lost_notice_of_an_account_follows_the_first(thief, send_again, clock):
    change_number(thief)
    clock.forward(seconds=1)
    change_number(thief, "+4930123499")
    clock.forward(minutes=15)
    [first] = send_again()
    assert send_again() == []

    compose.compose(first)

    [second] = send_again()
    assert second.details["notice"] != first.details["notice"]


def test_notice_without_attempts_left_does_not_delay_a_newer_one(thief, send_again, clock):
    change_number(thief)
    OneTimeToken.objects.filter(digest=None).update(resend_at=None)
    clock.forward(seconds=1)
    newer = change_number(thief, phone="+4930765432")
    clock.forward(minutes=15)

    [job] = send_again()

    assert job.details["notice"] == newer.details["notice"]


def test_cleanup_sends_lost_notices_again(thief, post, clock):
    change_number(thief)
    clock.forward(hours=1)
    output = StringIO()

    with TestCase.captureOnCommitCallbacks(execute=True):
        call_command("authservice_cleanup", stdout=output)

    assert post.kinds() == [kinds.PHONE_CHANGED]
    assert "lost security notices: 1 sent again" in output.getvalue()


def test_worker_checks_once_a_minute_and_continues_after_a_failure(monkeypatch, caplog):
    checks = []
    moment = security_notice.monotonic() + 3600
    monkeypatch.setattr(security_notice, "monotonic", lambda: moment + 50 * len(checks))
    monkeypatch.setattr(security_notice, "_next_check", 0)

    def fail():
        checks.append(None)
        raise ConnectionError

    monkeypatch.setattr(security_notice, "send_again", fail)
    security_notice.check()
    security_notice.check()  # 50 seconds later
    assert len(checks) == 1
    checks.append(None)

    security_notice.check()  # after 100 seconds

    assert len(checks) == 3
    assert "Could not check for lost notices" in caplog.text
