"""Notices of logins on new devices: number, recipients and the logins that cause them."""

import pytest
from django.test import TestCase, override_settings

from authservice.core.models import Account, Session
from authservice.core.users.identifiers import email_key
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.notification import dispatchers
from tests.support.client import PASSWORD
from tests.support.flows import CommittingApi
from tests.support.mailing import mail_settings
from tests.support.ports import free_port

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
    dispatchers.kept.clear()
    notify(DISPATCHER="tests.notification.dispatchers.keep")


@pytest.fixture
def work(mailoutbox):
    """Deliver the queued jobs that are due; returns the e-mails that were sent."""

    def run():
        before = len(mailoutbox)
        waiting = [job for job in dispatchers.kept if job.delay]
        due = [job for job in dispatchers.kept if not job.delay]
        dispatchers.kept[:] = waiting
        with TestCase.captureOnCommitCallbacks(execute=True):
            for job in due:
                worker.deliver(job)
        return mailoutbox[before:]

    return run


@pytest.fixture
def ann(api, clock):
    """Ann, who signed up with Firefox from 192.0.2.1."""
    headers = {"User-Agent": FIREFOX}
    body = {"email": ANN, "password": PASSWORD}
    answer = api.request("POST", "signup", body, headers=headers, REMOTE_ADDR="192.0.2.1")
    dispatchers.kept.clear()
    clock.forward(minutes=1)
    return answer


@pytest.fixture
def verified(ann):
    """Ann, who has verified her address."""
    key = email_key(ANN)
    Account.objects.filter(email_key=key).update(verified_email_key=key, proven_email_key=key)
    return ann


@pytest.fixture
def log_in(api, clock):
    """`log_in(user_agent, address)` logs Ann in; by default like at sign-up."""

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


def test_sixty_logins_from_one_address_cause_one_email_now_and_one_later(
    verified, log_in, work, clock
):
    for number in range(60):
        log_in(f"{SPAM} {number}", "198.51.100.1")

    [now] = work()
    clock.forward(hours=1)
    [later] = work()
    clock.forward(hours=2)

    assert work() == []
    assert now.subject == "testserver: login from a new device"
    assert later.subject == "testserver: more logins from new devices"
    for mail in (now, later):
        assert "an unknown browser" in mail.body
        assert "evil" not in mail.body + mail.alternatives[0][0]


def test_unverified_address_gets_no_notice(ann, log_in, work, clock):
    for number in range(5):
        log_in(SPAM, f"198.51.100.{number}")

    assert work() == []
    clock.forward(hours=1)
    assert work() == []


def test_three_logins_of_a_known_browser_without_a_device_token_cause_no_email(
    verified, log_in, work
):
    for _ in range(3):
        log_in()

    assert work() == []


def test_three_logins_of_one_new_client_cause_one_email(verified, log_in, work, clock):
    for _ in range(3):
        log_in(CHROME, "198.51.100.1")

    assert len(work()) == 1
    clock.forward(hours=1)
    assert work() == []


@pytest.mark.parametrize(
    ("user_agent", "address"), [(CHROME, "192.0.2.1"), (FIREFOX, "198.51.100.1")]
)
def test_other_browser_or_network_causes_an_email(verified, log_in, work, user_agent, address):
    log_in(user_agent, address)

    assert len(work()) == 1


def test_new_version_of_a_known_browser_causes_no_email(verified, log_in, work):
    log_in(FIREFOX.replace("135.0", "136.0"))

    assert work() == []


def test_other_address_in_a_known_ipv6_network_causes_no_email(verified, log_in, work):
    log_in(FIREFOX, "2001:db8:1:2::1")
    assert len(work()) == 1

    log_in(FIREFOX, "2001:db8:1:2:ffff::1")
    assert work() == []
    assert dispatchers.kept == []

    log_in(FIREFOX, "2001:db8:1:3::1")
    assert work() == []
    assert [job.kind for job in dispatchers.kept] == ["new-devices"]


def test_browser_of_an_old_session_causes_an_email(verified, log_in, work, clock):
    clock.forward(days=31)
    log_in()

    assert len(work()) == 1


@pytest.mark.parametrize(("reason", "emails"), [("logout", 0), ("password reset", 1), ("reuse", 1)])
def test_browser_of_a_session_revoked_for_security_causes_an_email(
    verified, log_in, work, clock, reason, emails
):
    Session.objects.update(ended_at="2030-01-01T12:00:01Z", end_reason=reason)
    log_in()

    assert len(work()) == emails


def test_known_device_causes_no_email(verified, log_in, work):
    token = log_in(CHROME, "198.51.100.1").headers["X-Device-Token"]
    work()
    log_in(CHROME, "198.51.100.2", **{"X-Device-Token": token})

    assert dispatchers.kept == []


def test_list_names_each_further_device_once(verified, log_in, work, clock):
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


def test_long_list_is_cut(verified, log_in, work, clock):
    for number in range(26):
        log_in(FIREFOX, f"198.51.100.{number}")
    work()
    clock.forward(hours=1)

    [mail] = work()

    assert mail.body.count("198.51.100.") == 20
    assert "and 6 more" in mail.body


def test_list_is_in_the_language_of_the_recipient(verified, log_in, work, clock, settings):
    settings.LANGUAGE_CODE = "de"
    for number in range(3):
        log_in(FIREFOX, f"198.51.100.{number}")
    work()
    clock.forward(hours=1)

    [mail] = work()

    assert mail.subject == "testserver: weitere Anmeldungen von neuen Geräten"
    assert "Firefox unter Windows (198.51.100.1)" in mail.body


def test_every_hour_has_its_own_notice_and_list(verified, log_in, work, clock):
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


def test_notice_that_could_not_be_sent_is_not_counted(verified, log_in, notify, mailoutbox):
    log_in(CHROME, "198.51.100.1")
    [job] = dispatchers.kept
    nowhere = mail_settings("smtp", host="127.0.0.1", port=free_port())
    with override_settings(**nowhere), pytest.raises(ConnectionRefusedError):
        worker.deliver(job)

    worker.deliver(job)

    assert len(mailoutbox) == 1


def test_every_notice_is_sent_if_flood_limits_are_disabled(
    verified, log_in, work, configure, settings
):
    configure(THROTTLE={"ENABLED": False})
    for number in range(5):
        log_in(FIREFOX, f"198.51.100.{number}")

    assert len(work()) == 5


def test_other_notices_are_limited_to_ten_a_day_for_each_kind_and_address(
    verified, mailoutbox, clock
):
    for _ in range(12):
        worker.deliver(Message(kind="password-changed", target=ANN))
    worker.deliver(Message(kind="access-wiped", target=ANN))

    assert len(mailoutbox) == 11
    clock.forward(days=1)
    worker.deliver(Message(kind="password-changed", target=ANN))
    assert len(mailoutbox) == 12
