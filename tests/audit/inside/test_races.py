"""Concurrent cleanups share the work: each entry is deleted once and counted once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from authservice.audit.models import Entry
from authservice.audit.retention import clean
from tests.audit.stored import store
from tests.audit.world import metadata
from tests.commands.test_cleanup_races import held
from tests.races.crowd import SIZE, Crowd, crowd_limit
from tests.support import needs
from tests.support.client import PASSWORD, Api

pytestmark = [pytest.mark.django_db(transaction=True), needs.several_writers]

OLD = datetime.now(UTC) - timedelta(days=100)


@pytest.fixture(autouse=True)
def _no_rate_limits(configure):
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def crowd():
    with crowd_limit():
        gathered = Crowd()
        yield gathered
        gathered.close()


def write_old_entries(number):
    with transaction.atomic():
        return [store("auth.logout", at=OLD + timedelta(seconds=n)) for n in range(number)]


def check_shared_cleanup(crowd, *, runs, rounds):
    for _ in range(rounds):
        Entry.objects.all().delete()
        write_old_entries(400)

        deleted = crowd.race([lambda: clean(batch_size=20)] * runs)

        recorded = Entry.objects.filter(action="admin.audit.cleaned")
        assert sum(deleted) == 400
        assert sorted(metadata(run)["deleted"] for run in recorded) == sorted(deleted)
        assert Entry.objects.count() == runs


def test_concurrent_cleanups_delete_and_count_each_entry_once(crowd):
    check_shared_cleanup(crowd, runs=8, rounds=3)


@pytest.mark.slow
def test_many_concurrent_cleanups_delete_and_count_each_entry_once(crowd):
    check_shared_cleanup(crowd, runs=SIZE, rounds=20)


def test_cleanup_skips_locked_entry_until_the_next_run():
    entries = write_old_entries(3)
    with held(Entry.objects.filter(pk=entries[1].pk)):
        assert clean() == 2

    assert clean() == 1


def test_users_log_in_during_a_cleanup(crowd):
    users = [f"p{n}@example.com" for n in range(8)]
    for email in users:
        Api().sign_up(email)
    write_old_entries(1000)

    def log_in(email):
        api = Api(raising=False)
        return [api.post("login", email=email, password=PASSWORD).status for _ in range(5)]

    runs = crowd.race([lambda: clean(batch_size=50), *[lambda e=e: log_in(e) for e in users]])

    assert runs == [1000, *[[200] * 5] * 8]
    assert Entry.objects.filter(action="auth.login.success").count() == 40
