"""Messages that were given up: what is kept of them, and that one sent again has a new link."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from authservice.core.credentials.one_time import SECURE
from authservice.core.messages import compose, lost_messages
from authservice.core.models import LostMessage, OneTimeToken
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message, send
from authservice.notification import worker
from authservice.notification.dispatchers.background import Background
from tests.notification.conftest import link_in
from tests.support.people import make_user
from tests.support.ports import free_port

RESET = Message(kind="reset-link", target="ann@example.com", requested=True, request_id="r1")
FAULT = "ConnectionRefusedError from the mail server mail.example.com:587"


def given_up(message=RESET, fault=FAULT):
    worker.give_up(message, 9, fault)


def test_message_that_was_given_up_is_kept_with_its_user_and_reason(ann):
    given_up()

    (row,) = LostMessage.objects.all()
    assert (row.user, row.kind, row.recipient) == (ann, "reset-link", "ann@example.com")
    assert row.reason == f"given up after attempt 9: {FAULT}"
    assert Message.from_dict(row.job) == RESET
    assert row.sent_again_at is None


def test_kept_message_has_no_link_and_no_code(ann, mail_to, notify):
    notify(EMAIL_TIMEOUT=1)
    mail_to(free_port())
    issued = []

    fault = worker.attempt(RESET, 9)
    given_up(fault=fault)
    issued += OneTimeToken.objects.values_list("digest", flat=True)

    (row,) = LostMessage.objects.values()
    assert issued  # the attempt issued a link, which only the lost mail had
    assert "token" not in str(row["job"])
    assert set(row["job"]) <= {*Message.__dataclass_fields__}
    assert row["job"]["details"] == {}


def test_recipient_that_the_server_refuses_for_good_is_kept(ann, sink, mail_to):
    sink.refusal = "550 no such mailbox: ann@example.com"
    mail_to(sink.port)

    assert worker.attempt(RESET, 1) == ""

    (row,) = LostMessage.objects.all()
    assert "the mail server refuses the recipient: SMTPRecipientsRefused (550)" in row.reason
    assert "ann@example.com" not in row.reason


def test_same_request_is_kept_once(ann):
    given_up()
    given_up(fault="TimeoutError")

    (row,) = LostMessage.objects.all()
    assert row.reason.endswith("TimeoutError")


def test_notices_of_two_changes_are_both_kept(ann):
    for at in ("2030-01-01", "2030-01-02"):
        given_up(Message(kind="password-changed", target="ann@example.com", details={"at": at}))

    assert LostMessage.objects.count() == 2


def test_message_to_an_unknown_address_is_kept_without_a_user(db):
    given_up(Message(kind="invitation", target="eve@example.com", details={"id": "1"}))

    assert LostMessage.objects.get().user is None


def test_text_message_is_kept_with_the_user_of_the_number(mark_verified, phone):
    ann = mark_verified()
    given_up(Message(kind="reset-code", target=phone))

    assert LostMessage.objects.get().user == ann


def test_rows_of_a_user_are_deleted_with_the_user(ann):
    given_up()
    ann.delete()

    assert LostMessage.objects.count() == 0


def test_nothing_is_kept_if_the_setting_is_zero(ann, configure):
    configure(CORE={"LOST_MESSAGES_KEPT": 0})
    given_up()

    assert LostMessage.objects.count() == 0


def test_database_that_is_away_stops_no_worker(ann, monkeypatch, caplog):
    def away(target):
        raise OperationalError("no connection for ann@example.com")

    monkeypatch.setattr("authservice.core.users.lookup.find_by_email", away)
    given_up()

    assert "Not listed in Django admin: reset-link (OperationalError)" in caplog.messages
    assert "ann@example.com" not in caplog.text


def deleted_tenant(state):
    raise LookupError("ann@example.com")


def test_state_that_cannot_be_restored_stops_no_worker(ann, notify, caplog):
    notify(RESTORE=f"{__name__}.deleted_tenant")
    given_up(replace(RESET, state="a tenant"))

    assert "Not listed in Django admin: reset-link (LookupError)" in caplog.messages
    assert f"Lost reset-link of request r1: given up after attempt 9: {FAULT}" in caplog.messages
    assert "ann@example.com" not in caplog.text


@pytest.mark.parametrize("names", ["the account", "the user", "the link"])
def test_message_to_a_former_address_is_kept_with_the_user_whom_it_names(ann, names):
    """Somebody else has this address now."""
    make_user("former@example.com")
    token = OneTimeToken.objects.create(
        purpose=SECURE.name, user=ann, expires_at=timezone.now() + timedelta(hours=72)
    )
    own_id = lookup.find_by_email("ann@example.com").id
    details = {
        "the account": {"account": own_id},
        "the user": {"user_id": own_id},
        "the link": {"notice": str(token.pk)},
    }[names]

    given_up(Message(kind="email-changed", target="former@example.com", details=details))

    assert LostMessage.objects.get().user == ann


def test_message_that_a_full_queue_refuses_is_kept(ann, notify):
    notify(QUEUE_SIZE=0)
    Background(worker.attempt).put(RESET)

    assert LostMessage.objects.get().reason == "the queue is full"


def test_message_is_not_marked_as_sent_again_without_a_messenger(ann, settings):
    given_up()
    (row,) = LostMessage.objects.all()
    apps = [app for app in settings.INSTALLED_APPS if app != "authservice.notification"]
    settings.INSTALLED_APPS = apps

    assert lost_messages.send_again(row) is False

    row.refresh_from_db()
    assert row.sent_again_at is None


def test_notice_that_is_sent_again_late_has_no_link_that_expired(ann, clock):
    """Staff can send a message again for two weeks."""
    token = OneTimeToken.objects.create(
        purpose=SECURE.name, user=ann, expires_at=timezone.now() + timedelta(hours=72)
    )
    details = {"notice": str(token.pk)}
    job = Message(kind="password-changed", target="ann@example.com", details=details)
    assert compose.compose(job).context["expires_in"] == timedelta(hours=72)

    clock.forward(hours=73)

    assert "link" not in compose.compose(job).context


def test_message_that_is_sent_again_has_a_new_link(
    ann, notify, mailoutbox, django_capture_on_commit_callbacks
):
    notify(DISPATCHER="inline")
    given_up()
    (row,) = LostMessage.objects.all()

    with django_capture_on_commit_callbacks(execute=True):
        assert lost_messages.send_again(row) is True

    (mail,) = mailoutbox
    assert "token=" in link_in(mail.body)
    assert OneTimeToken.objects.filter(user=ann, spent_at=None).count() == 1
    row.refresh_from_db()
    assert row.sent_again_at is not None


def test_message_of_a_later_version_is_sent_again(
    ann, notify, mailoutbox, django_capture_on_commit_callbacks
):
    """After a rollback, the rows of that version are still there."""
    notify(DISPATCHER="inline")
    given_up()
    row = LostMessage.objects.get()
    row.job["priority"] = 3
    row.save()

    with django_capture_on_commit_callbacks(execute=True):
        assert lost_messages.send_again(row) is True

    assert len(mailoutbox) == 1


def test_message_is_sent_again_once(ann, notify, mailoutbox, django_capture_on_commit_callbacks):
    notify(DISPATCHER="inline")
    given_up()
    (row,) = LostMessage.objects.all()

    with django_capture_on_commit_callbacks(execute=True):
        assert [lost_messages.send_again(row) for _ in range(2)] == [True, False]

    assert len(mailoutbox) == 1


def test_message_whose_user_was_suspended_is_not_sent(
    ann, notify, mailoutbox, django_capture_on_commit_callbacks
):
    notify(DISPATCHER="inline")
    given_up()
    ann.is_active = False
    ann.save()

    with django_capture_on_commit_callbacks(execute=True):
        lost_messages.send_again(LostMessage.objects.get())

    assert mailoutbox == []


@pytest.mark.django_db(transaction=True)
def test_thread_keeps_the_message_that_it_gives_up(notify, mail_to, logged, eventually):
    make_user()
    notify(RETRIES=1, BACKOFF=0.01, EMAIL_TIMEOUT=1)
    mail_to(free_port())

    send("reset-link", "ann@example.com", Client(request_id="r1"), requested=True)

    # Not of the table, which SQLite in memory locks while the thread writes.
    eventually(lambda: logged("Lost"))
    assert "given up after attempt 2" in LostMessage.objects.get().reason


def test_cleanup_deletes_lost_messages_after_two_weeks(ann):
    given_up()
    rows = LostMessage.objects.all()
    rows.update(lost_at=timezone.now() - timedelta(days=13, hours=23))
    call_command("authservice_cleanup")
    assert rows.count() == 1

    rows.update(lost_at=timezone.now() - timedelta(days=14, minutes=1))
    call_command("authservice_cleanup")
    assert rows.count() == 0
