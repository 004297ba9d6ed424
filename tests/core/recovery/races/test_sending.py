"""Limits on sending apply to concurrent requests of 40 clients with different addresses."""

from functools import partial

import pytest

from authservice.core.messages import compose, limits
from authservice.core.messages.sending import TextPolicy
from authservice.core.models import Account
from authservice.core.users.identifiers import phone_key
from authservice.kernel.message_queue import Message
from tests.races.crowd import Crowd, crowd_limit, tally
from tests.support.flows import ANN, prove
from tests.support.people import make_user

CLIENTS = 40


@pytest.fixture(scope="module")
def gathered():
    with crowd_limit():
        crowd = Crowd(CLIENTS)
        yield crowd
        crowd.close()


@pytest.fixture(autouse=True)
def _limited(_no_floods, configure):
    configure(THROTTLE={"ENABLED": True, "RATES": {"default": "1000000/min"}})


def requests(api, path, body):
    """One request from each of 40 addresses; `body` is called with the number of each."""
    return [
        partial(api.request, "POST", path, body(number), REMOTE_ADDR=f"192.0.2.{number}")
        for number in range(CLIENTS)
    ]


@pytest.mark.parametrize("path", ["forgot-password", "send-verification-email"])
def test_forty_clients_cause_thirty_emails_and_the_last_one(crowd, api, post, path):
    answers = crowd.race(requests(api, path, lambda _: {"email": ANN}))

    assert tally(answers) == {200: CLIENTS}
    assert len(post.jobs) == limits.UNKNOWN_SENDERS.amount + limits.LAST_MAIL.amount
    assert len([job for job in post.jobs if job.details]) == 1


def test_forty_clients_cause_thirty_sms_to_one_number(crowd, api, post):
    answers = crowd.race(
        requests(api, "send-verification-phone", lambda _: {"phone": "+4930123456"})
    )

    assert tally(answers) == {200: CLIENTS}
    assert len(post.jobs) == limits.UNKNOWN_SENDERS.amount


def test_one_client_causes_ten_sms_to_forty_numbers(crowd, api, post):
    answers = crowd.race(
        partial(api.post, "send-verification-phone", phone=f"+49301234{number:02}")
        for number in range(CLIENTS)
    )

    assert tally(answers) == {200: CLIENTS}
    assert len(post.jobs) == limits.SENDER_TEXTS.amount


def test_forty_concurrent_sms_stay_below_the_total_limit(crowd, post, caplog):
    jobs = []
    for number in range(CLIENTS):
        phone = f"+49301234{number:02}"
        user = make_user(f"ann{number}@example.com")
        columns = {"phone_number": phone, "phone_key": phone_key(phone)}
        Account.objects.filter(user=user).update(**columns)
        if number >= CLIENTS // 2:
            prove(f"ann{number}@example.com", phone)
        jobs.append(Message(kind="reset-code", target=phone, requested=True))
        jobs.append(Message(kind="verify-phone", target=phone, requested=True))
    policy = TextPolicy(per_hour=20)

    unverified = crowd.race(
        partial(compose.compose, job, policy) for job in jobs if job.kind == "verify-phone"
    )
    verified = crowd.race(
        partial(compose.compose, job, policy) for job in jobs if job.kind == "reset-code"
    )

    assert sum(message is not None for message in unverified) == 16
    assert sum(message is not None for message in verified) == 4
    alarms = [line for line in caplog.messages if "SMS_PER_HOUR" in line]
    assert len(alarms) == 2  # one for each limit


def test_forty_concurrent_notices_of_new_devices_send_one_at_once(crowd, post):
    make_user()
    prove()
    jobs = [
        Message(
            kind="new-device",
            target=ANN,
            details={"ip_address": f"192.0.2.{number}", "at": "2030-01-01T00:00:00+00:00"},
        )
        for number in range(CLIENTS)
    ]

    sent = crowd.race(partial(compose.compose, job) for job in jobs)

    assert len([message for message in sent if message]) == 1
    assert post.kinds() == ["new-devices"]
