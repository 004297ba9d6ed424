"""The cleanup deletes old entries by the retention policy, in batches, and records each run."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone, translation

from authservice.audit import examinations, partitions, retention
from authservice.audit.models import Entry
from authservice.audit.retention import clean, duration, policy
from authservice.core import cleanup
from authservice.core.api.endpoint import Endpoint
from authservice.core.models import Session
from authservice.kernel.checks import Visit
from authservice.kernel.languages import phrase_count, translated
from tests.audit.stored import store_all, unsaved
from tests.audit.world import metadata

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def old(action, days, number=1):
    moment = datetime.now(UTC) - days * DAY
    return store_all([unsaved(action, at=moment) for _ in range(number)])


def left():
    """The actions of the remaining entries, without those of the cleanup itself."""
    rows = Entry.objects.exclude(action="admin.audit.cleaned").order_by("action", "pk")
    return list(rows.values_list("action", flat=True))


def runs():
    return list(Entry.objects.filter(action="admin.audit.cleaned").order_by("pk"))


def command(**options):
    out = StringIO()
    call_command("authservice_audit_cleanup", stdout=out, **options)
    return out.getvalue().strip()


@pytest.mark.parametrize(
    ("action", "days_kept"),
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
def test_entry_is_kept_for_the_retention_of_its_prefix(action, days_kept):
    old(action, days_kept - 0.1)
    old(action, days_kept + 0.1)

    assert clean() == 1
    assert left() == [action]


def test_other_security_entries_are_kept_permanently():
    old("security.session.revoked", 10_000)

    assert clean() == 0
    assert left() == ["security.session.revoked"]


def test_entry_of_an_unknown_action_is_kept():
    (entry,) = old("auth.logout", 10_000)
    Entry.objects.filter(pk=entry.pk).update(action="plugin.did")

    assert clean() == 0


def test_retention_uses_the_longest_prefix(configure):
    configure(AUDIT={"RETENTION": {"auth.login.": 10 * DAY, "auth.login.failed": None}})
    for action in ("auth.login.success", "auth.login.failed", "auth.logout"):
        old(action, 11)
    old("auth.login.failed", 100)

    assert clean() == 1
    assert left() == ["auth.login.failed", "auth.login.failed", "auth.logout"]


def test_retention_accepts_seconds(configure):
    configure(AUDIT={"RETENTION": {"security.": 60}})
    old("security.session.revoked", 1)

    assert clean() == 1


def test_retention_of_host_extends_the_defaults(configure):
    configure(AUDIT={"RETENTION": {"security.": 60}})

    assert policy()["auth."] == 90 * DAY


def test_cleanup_keeps_its_own_entry_with_zero_retention(configure, world):
    configure(AUDIT={"RETENTION": {"admin.": 0}})

    clean()

    assert len(runs()) == 1


@pytest.mark.parametrize("ages", [timedelta.max, 10**6 * DAY, 10**12], ids=str)
def test_retention_longer_than_the_calendar_keeps_entries(configure, ages):
    configure(AUDIT={"RETENTION": {"auth.": ages}})
    old("auth.logout", 4000)

    assert clean() == 0


@pytest.mark.parametrize("wrong", [-1, "90 days", True, [], float("nan")], ids=str)
def test_retention_that_is_no_duration_is_refused(wrong):
    with pytest.raises(TypeError):
        duration(wrong)


# The route


def test_cleanup_route_returns_the_number_of_deleted_entries(world):
    old("auth.logout", 100, number=3)
    root = world.root

    answer = root.ask("POST", "admin/audit/cleanup")

    assert answer.data == {"message": "Deleted 3 entries.", "deleted": 3}


def test_cleanup_entry_has_actor_and_number_of_deleted_entries(world):
    old("auth.logout", 100, number=3)
    root = world.root

    answer = root.ask("POST", "admin/audit/cleanup")

    (run,) = runs()
    assert (run.actor_id, run.actor_type, run.ip_address) == (root.id, "admin", "127.0.0.1")
    assert metadata(run) == {"request_id": answer.headers["X-Request-ID"], "deleted": 3}


def test_cleanup_request_deletes_at_most_its_limit(world):
    world.configure(AUDIT={"CLEANUP_LIMIT": 4})
    old("auth.logout", 100, number=3)
    old("user.profile.updated", 100, number=3)
    root = world.root

    answers = [root.ask("POST", "admin/audit/cleanup").data for _ in range(2)]

    assert [answer["deleted"] for answer in answers] == [4, 2]
    assert "repeat the request" in answers[0]["message"]
    assert "repeat the request" not in answers[1]["message"]


# The command


def test_cleanup_command_deletes_in_batches(monkeypatch):
    old("auth.logout", 100, number=7)
    sizes = []
    delete = cleanup.delete

    def spy(rows, pks):
        sizes.append(len(pks))
        return delete(rows, pks)

    monkeypatch.setattr(cleanup, "delete", spy)

    assert command(batch_size=3) == "7 entries deleted"
    assert sizes == [3, 3, 1]


def test_cleanup_command_is_recorded_as_action_of_the_system():
    command()

    (run,) = runs()
    assert (run.actor_id, run.actor_type, run.ip_address) == ("", "system", "")


def test_cleanup_dry_run_deletes_and_records_nothing():
    old("auth.logout", 100, number=3)

    assert command(dry_run=True) == "3 entries would be deleted"
    assert len(left()) == 3
    assert runs() == []


def test_cleanup_batch_size_must_be_positive():
    with pytest.raises(CommandError):
        command(batch_size=0)


# Interrupted runs


def test_interrupted_cleanup_has_recorded_the_deleted_entries(monkeypatch):
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


def test_cleanup_that_cannot_be_recorded_deletes_nothing(monkeypatch):
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
        Session.objects.update(ended_at=timezone.now())

    monkeypatch.setattr(Endpoint, "_identify", identify_then_end)

    answer = root.ask("POST", "admin/audit/cleanup")

    assert answer.error == (401, "INVALID_TOKEN")
    assert "auth.logout" in left()
    assert runs() == []


def test_command_shows_its_progress_on_a_terminal():
    class Terminal(StringIO):
        def isatty(self):
            return True

    old("auth.logout", days=100, number=2)
    shown, output = Terminal(), StringIO()

    call_command("authservice_audit_cleanup", "--batch-size", "1", stdout=output, stderr=shown)

    assert shown.getvalue().endswith("100%\n")
    assert " 50%" in shown.getvalue()
    assert "%" not in output.getvalue()


@pytest.mark.parametrize(
    ("language", "number", "text"),
    [
        ("en", 1, "Deleted 1 entry."),
        ("de", 1, "1 Eintrag wurde gelöscht."),
        ("de", 2, "2 Einträge wurden gelöscht."),
        # In French, zero is singular.
        ("fr", 0, "0 entrée a été supprimée."),
    ],
)
def test_response_counts_in_its_language(language, number, text):
    made = phrase_count("Deleted %(count)d entry.", "Deleted %(count)d entries.", number)

    with translation.override(language):
        assert translated(made) == text


@pytest.mark.parametrize(("days", "state"), [(91, "ok"), (93, "attention")])
def test_doctor_names_a_cleanup_that_has_not_run_for_two_days(days, state):
    old("auth.login.success", days)

    (finding,) = examinations.examine_retention(Visit())

    assert (finding.area, finding.state) == ("cleanup", state)
    assert ("47 4 * * *" in finding.remedy) is (state == "attention")


@pytest.mark.parametrize(("days", "state"), [(129, "ok"), (131, "attention")])
def test_doctor_knows_that_partitions_are_dropped_as_a_whole(days, state, monkeypatch):
    monkeypatch.setattr(partitions, "is_partitioned", lambda: True)
    old("auth.login.success", days)

    (finding,) = examinations.examine_retention(Visit())

    assert finding.state == state
    assert ("authservice_audit_partitions" in finding.remedy) is (state == "attention")
