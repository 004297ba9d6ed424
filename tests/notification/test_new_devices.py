"""Notices of new devices: how many are sent, to whom, and about which sign-ins."""

import pytest
from django.test import TestCase

from authservice.core.models import Account, Session
from authservice.core.users.identifiers import email_key
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.client import PASSWORD
from tests.notification import dispatchers
from tests.recovery.flows import CommittingApi

pytestmark = pytest.mark.django_db

ANN = "ann@example.com"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0"
CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0"
    " Safari/537.36"
)
SPAM = "URGENT: your account is blocked. Unblock it now at https://evil.example/unblock"


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def _jobs(notify):
    dispatchers.taken.clear()
    notify(DISPATCHER="tests.notification.dispatchers.keep")


@pytest.fixture
def work(mailoutbox):
    """Deliver the queued jobs that are due; returns the mails that were sent."""

    def run():
        before = len(mailoutbox)
        waiting = [job for job in dispatchers.taken if job.delay]
        due = [job for job in dispatchers.taken if not job.delay]
        dispatchers.taken[:] = waiting
        with TestCase.captureOnCommitCallbacks(execute=True):
            for job in due:
                worker.deliver(job)
        return mailoutbox[before:]

    return run


@pytest.fixture
def ann(api, clock):
    """Ann, who signed up with Firefox at home."""
    headers = {"User-Agent": FIREFOX}
    body = {"email": ANN, "password": PASSWORD}
    answer = api.request("POST", "signup", body, headers=headers, REMOTE_ADDR="192.0.2.1")
    dispatchers.taken.clear()
    clock.forward(minutes=1)
    return answer


@pytest.fixture
def proven(ann):
    key = email_key(ANN)
    Account.objects.filter(email_key=key).update(verified_email_key=key, proven_email_key=key)
    return ann


@pytest.fixture
def log_in(api, clock):
    def log_in(user_agent=FIREFOX, address="192.0.2.1", **headers):
        answer = api.request(
            "POST",
            "login",
            {"email": ANN, "password": PASSWORD},
            headers={"User-Agent": user_agent, **headers},
            REMOTE_ADDR=address,
        )
        assert answer.status == 200
        clock.forward(seconds=1)
        return answer

    return log_in


def test_sixty_logins_from_one_address_cause_one_mail_now_and_one_later(
    proven, log_in, work, clock
):
    for number in range(60):
        log_in(f"{SPAM} {number}", "198.51.100.1")

    [now] = work()
    clock.forward(hours=1)
    [later] = work()
    clock.forward(hours=2)

    assert work() == []
    assert now.subject == "testserver: sign-in from a new device"
    assert later.subject == "testserver: more sign-ins from new devices"
    for mail in (now, later):
        assert "an unknown browser" in mail.body
        assert "evil" not in mail.body + mail.alternatives[0][0]


def test_an_address_that_nobody_proved_gets_no_notice(ann, log_in, work, clock):
    for number in range(5):
        log_in(SPAM, f"198.51.100.{number}")

    assert work() == []
    clock.forward(hours=1)
    assert work() == []


def test_three_logins_of_one_client_without_a_device_token_cause_no_mail(proven, log_in, work):
    for _ in range(3):
        log_in()

    assert work() == []


def test_three_logins_of_one_new_client_cause_one_mail(proven, log_in, work, clock):
    for _ in range(3):
        log_in(CHROME, "198.51.100.1")

    assert len(work()) == 1
    clock.forward(hours=1)
    assert work() == []


@pytest.mark.parametrize(
    ("user_agent", "address"), [(CHROME, "192.0.2.1"), (FIREFOX, "198.51.100.1")]
)
def test_another_browser_or_network_causes_a_mail(proven, log_in, work, user_agent, address):
    log_in(user_agent, address)

    assert len(work()) == 1


def test_a_new_version_of_the_browser_is_the_same_browser(proven, log_in, work):
    log_in(FIREFOX.replace("135.0", "136.0"))

    assert work() == []


def test_another_address_of_the_same_ipv6_network_is_the_same_network(proven, log_in, work):
    log_in(FIREFOX, "2001:db8:1:2::1")
    assert len(work()) == 1

    log_in(FIREFOX, "2001:db8:1:2:ffff::1")
    assert work() == []
    assert dispatchers.taken == []

    log_in(FIREFOX, "2001:db8:1:3::1")
    assert work() == []
    assert [job.kind for job in dispatchers.taken] == ["new-devices"]


def test_a_session_of_long_ago_makes_no_browser_known(proven, log_in, work, clock):
    clock.forward(days=31)
    log_in()

    assert len(work()) == 1


@pytest.mark.parametrize(("reason", "mails"), [("logout", 0), ("password reset", 1), ("reuse", 1)])
def test_a_session_that_was_ended_for_safety_makes_no_browser_known(
    proven, log_in, work, clock, reason, mails
):
    Session.objects.update(ended_at="2030-01-01T12:00:01Z", end_reason=reason)
    log_in()

    assert len(work()) == mails


def test_a_known_device_causes_no_mail(proven, log_in, work):
    token = log_in(CHROME, "198.51.100.1").headers["X-Device-Token"]
    work()
    log_in(CHROME, "198.51.100.2", **{"X-Device-Token": token})

    assert dispatchers.taken == []


def test_the_list_names_each_further_device_once(proven, log_in, work, clock):
    log_in(CHROME, "198.51.100.1")
    work()
    token = log_in(FIREFOX, "198.51.100.2").headers["X-Device-Token"]
    log_in(FIREFOX, "198.51.100.2")
    log_in(FIREFOX, "198.51.100.3", **{"X-Device-Token": token})
    log_in(CHROME, "198.51.100.4")
    assert work() == []
    clock.forward(hours=1)

    [mail] = work()

    assert mail.body.count("198.51.100.2") == 1
    assert "Firefox on Windows (198.51.100.2)" in mail.body
    assert "Chrome on Linux (198.51.100.4)" in mail.body
    assert "198.51.100.3" not in mail.body
    assert "<li>" in mail.alternatives[0][0]


def test_a_long_list_is_cut(proven, log_in, work, clock):
    for number in range(26):
        log_in(FIREFOX, f"198.51.100.{number}")
    work()
    clock.forward(hours=1)

    [mail] = work()

    assert mail.body.count("198.51.100.") == 20
    assert "and 6 more" in mail.body


def test_the_list_is_german_for_a_german_reader(proven, log_in, work, clock, settings):
    settings.LANGUAGE_CODE = "de"
    for number in range(3):
        log_in(FIREFOX, f"198.51.100.{number}")
    work()
    clock.forward(hours=1)

    [mail] = work()

    assert mail.subject == "testserver: weitere Anmeldungen von neuen Geräten"
    assert "Firefox unter Windows (198.51.100.1)" in mail.body


def test_the_next_hour_has_a_notice_and_a_list_of_its_own(proven, log_in, work, clock):
    sent = []
    for hour, minutes in enumerate((50, 10, 30)):
        log_in(FIREFOX, f"198.51.{hour}.1")
        sent.append(len(work()))
        clock.forward(minutes=minutes)
        log_in(FIREFOX, f"198.51.{hour}.2")
        sent.append(len(work()))
        clock.forward(minutes=60 - minutes)
        sent.append(len(work()))

    assert sent == [1, 0, 1] * 3


def test_a_notice_that_could_not_be_sent_is_not_counted(
    proven, log_in, settings, notify, mailoutbox
):
    log_in(CHROME, "198.51.100.1")
    [job] = dispatchers.taken
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "no.such.backend"
    with pytest.raises(ImportError):
        worker.deliver(job)
    settings.EMAIL_BACKEND = backend

    worker.deliver(job)

    assert len(mailoutbox) == 1


def test_every_notice_is_sent_where_flood_limits_are_off(proven, log_in, work, configure, settings):
    configure(THROTTLE={"ENABLED": False})
    for number in range(5):
        log_in(FIREFOX, f"198.51.100.{number}")

    assert len(work()) == 5


def test_other_notices_are_ten_a_day_for_each_kind_and_address(proven, mailoutbox, clock):
    for _ in range(12):
        worker.deliver(Message(kind="password-changed", target=ANN))
    worker.deliver(Message(kind="access-wiped", target=ANN))

    assert len(mailoutbox) == 11
    clock.forward(days=1)
    worker.deliver(Message(kind="password-changed", target=ANN))
    assert len(mailoutbox) == 12
