"""Old entries go as the policy says, in batches, and each run says what it did."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from authservice.audit import retention
from authservice.audit.models import Entry
from authservice.audit.retention import clean, duration, policy
from authservice.core import cleanup
from authservice.core.models import Session
from authservice.kernel.http.views import Endpoint
from tests.audit.kept import keep_all, made
from tests.audit.world import metadata

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def old(action, days, number=1):
    moment = datetime.now(UTC) - days * DAY
    return keep_all([made(action, at=moment) for _ in range(number)])


def left():
    """The actions of what is there, but for the runs' own."""
    rows = Entry.objects.exclude(action="admin.audit.cleaned").order_by("action", "pk")
    return list(rows.values_list("action", flat=True))


def runs():
    return list(Entry.objects.filter(action="admin.audit.cleaned").order_by("pk"))


def command(**options):
    out = StringIO()
    call_command("authservice_audit_cleanup", stdout=out, **options)
    return out.getvalue().strip()


@pytest.mark.parametrize(
    ("action", "kept"),
    [
        ("auth.login.success", 90),
        ("user.profile.updated", 90),
        ("admin.user.updated", 365),
        ("org.created", 365),
        ("invitation.sent", 365),
        ("security.new_device", 90),
        ("security.account.throttled", 90),
    ],
)
def test_an_entry_is_kept_as_long_as_its_prefix_says(action, kept):
    old(action, kept - 0.1)
    old(action, kept + 0.1)

    assert clean() == 1
    assert left() == [action]


def test_other_security_entries_are_kept_permanently():
    old("security.session.revoked", 10_000)

    assert clean() == 0
    assert left() == ["security.session.revoked"]


def test_an_action_nobody_knows_any_more_is_kept():
    (entry,) = old("auth.logout", 10_000)
    Entry.objects.filter(pk=entry.pk).update(action="plugin.did")

    assert clean() == 0


def test_the_longest_prefix_counts(configure):
    configure(AUDIT={"RETENTION": {"auth.login.": 10 * DAY, "auth.login.failed": None}})
    for action in ("auth.login.success", "auth.login.failed", "auth.logout"):
        old(action, 11)
    old("auth.login.failed", 100)

    assert clean() == 1
    assert left() == ["auth.login.failed", "auth.login.failed", "auth.logout"]


def test_a_duration_may_be_seconds(configure):
    configure(AUDIT={"RETENTION": {"security.": 60}})
    old("security.session.revoked", 1)

    assert clean() == 1


def test_the_defaults_stay_beside_what_a_host_says(configure):
    configure(AUDIT={"RETENTION": {"security.": 60}})

    assert policy()["auth."] == 90 * DAY


def test_nothing_new_goes_even_if_nothing_is_to_be_kept(configure, world):
    configure(AUDIT={"RETENTION": {"admin.": 0}})

    clean()

    assert len(runs()) == 1


@pytest.mark.parametrize("ages", [timedelta.max, 10**6 * DAY, 10**12], ids=str)
def test_a_duration_longer_than_the_calendar_keeps_for_ever(configure, ages):
    configure(AUDIT={"RETENTION": {"auth.": ages}})
    old("auth.logout", 4000)

    assert clean() == 0


@pytest.mark.parametrize("wrong", [-1, "90 days", True, [], float("nan")], ids=str)
def test_what_is_no_duration_is_refused(wrong):
    with pytest.raises(TypeError):
        duration(wrong)


# The route


def test_a_super_admin_is_told_how_many_went(world):
    old("auth.logout", 100, number=3)
    root = world.root

    answer = root.ask("POST", "admin/audit/cleanup")

    assert answer.data == {"message": "Deleted 3 entries.", "deleted": 3}


def test_the_run_says_who_did_it_and_how_many_went(world):
    old("auth.logout", 100, number=3)
    root = world.root

    answer = root.ask("POST", "admin/audit/cleanup")

    (run,) = runs()
    assert (run.actor_id, run.actor_type, run.ip_address) == (root.id, "admin", "127.0.0.1")
    assert metadata(run) == {"request_id": answer.headers["X-Request-ID"], "deleted": 3}


def test_a_request_deletes_no_more_than_its_limit(world):
    world.configure(AUDIT={"CLEANUP_LIMIT": 4})
    old("auth.logout", 100, number=3)
    old("user.profile.updated", 100, number=3)
    root = world.root

    answers = [root.ask("POST", "admin/audit/cleanup").data for _ in range(2)]

    assert [answer["deleted"] for answer in answers] == [4, 2]
    assert "repeat the request" in answers[0]["message"]
    assert "repeat the request" not in answers[1]["message"]


# The command


def test_the_command_deletes_in_batches(monkeypatch):
    old("auth.logout", 100, number=7)
    sizes = []
    delete = cleanup.delete

    def spy(rows, pks):
        sizes.append(len(pks))
        return delete(rows, pks)

    monkeypatch.setattr(cleanup, "delete", spy)

    assert command(batch_size=3) == "7 entries deleted"
    assert sizes == [3, 3, 1]


def test_the_command_is_told_of_as_the_systems_deed():
    command()

    (run,) = runs()
    assert (run.actor_id, run.actor_type, run.ip_address) == ("", "system", "")


def test_a_dry_run_deletes_and_says_nothing():
    old("auth.logout", 100, number=3)

    assert command(dry_run=True) == "3 entries would be deleted"
    assert len(left()) == 3
    assert runs() == []


def test_a_batch_holds_at_least_one():
    with pytest.raises(CommandError):
        command(batch_size=0)


# What is broken off


def test_a_run_that_is_broken_off_has_said_what_it_did(monkeypatch):
    old("auth.logout", 100, number=7)
    delete, done = cleanup.delete, []

    def fail(rows, pks):
        if len(done) == 2:
            raise RuntimeError
        done.append(pks)
        return delete(rows, pks)

    monkeypatch.setattr(cleanup, "delete", fail)
    with pytest.raises(RuntimeError):
        clean(batch_size=3)

    assert len(left()) == 1
    assert metadata(runs()[0])["deleted"] == 6


def test_a_run_that_cannot_be_told_of_deletes_nothing(monkeypatch):
    def fail(event):
        raise RuntimeError

    old("auth.logout", 100)
    monkeypatch.setattr(retention.writer, "write", fail)
    with pytest.raises(RuntimeError):
        clean()

    assert left() == ["auth.logout"]


def test_cleanup_of_a_session_that_ends_meanwhile_deletes_nothing(root, monkeypatch):
    old("auth.logout", days=100)
    identify = Endpoint._identify

    def identify_then_end(view, request):
        identify(view, request)
        Session.objects.update(ended_at=datetime.now(UTC))

    monkeypatch.setattr(Endpoint, "_identify", identify_then_end)

    answer = root.ask("POST", "admin/audit/cleanup")

    assert answer.error == (401, "INVALID_TOKEN")
    assert "auth.logout" in left()
    assert runs() == []
