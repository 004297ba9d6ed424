"""Several runs of the cleanup at once share the work: each entry goes once and is counted once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from authservice.audit.models import Entry
from authservice.audit.retention import clean
from tests.audit.kept import keep
from tests.audit.world import metadata
from tests.client import PASSWORD, Api
from tests.commands.test_cleanup_races import held
from tests.races.crowd import SIZE, Crowd, turn

pytestmark = pytest.mark.django_db(transaction=True)

OLD = datetime.now(UTC) - timedelta(days=100)


@pytest.fixture(autouse=True)
def _several_writers(configure):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one writer in at a time")
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def crowd():
    with turn():
        gathered = Crowd()
        yield gathered
        gathered.leave()


def litter(number):
    with transaction.atomic():
        return [keep("auth.logout", at=OLD + timedelta(seconds=n)) for n in range(number)]


def share(crowd, *, runs, rounds):
    for _ in range(rounds):
        Entry.objects.all().delete()
        litter(400)

        deleted = crowd.race([lambda: clean(batch_size=20)] * runs)

        told = Entry.objects.filter(action="admin.audit.cleaned")
        assert sum(deleted) == 400
        assert sorted(metadata(run)["deleted"] for run in told) == sorted(deleted)
        assert Entry.objects.count() == runs


def test_each_entry_is_deleted_and_counted_once(crowd):
    share(crowd, runs=8, rounds=3)


@pytest.mark.slow
def test_each_entry_is_deleted_and_counted_once_by_many(crowd):
    share(crowd, runs=SIZE, rounds=20)


def test_an_entry_that_somebody_holds_is_left_to_the_next_run():
    entries = litter(3)
    with held(Entry.objects.filter(pk=entries[1].pk)):
        assert clean() == 2

    assert clean() == 1


def test_people_sign_in_during_a_cleanup(crowd):
    people = [f"p{n}@example.com" for n in range(8)]
    for email in people:
        Api().sign_up(email)
    litter(1000)

    def log_in(email):
        api = Api(raising=False)
        return [api.post("login", email=email, password=PASSWORD).status for _ in range(5)]

    runs = crowd.race([lambda: clean(batch_size=50), *[lambda e=e: log_in(e) for e in people]])

    assert runs == [1000, *[[200] * 5] * 8]
    assert Entry.objects.filter(action="auth.login.success").count() == 40
