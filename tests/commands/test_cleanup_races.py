"""Cleanup during logins and other cleanups: no request waits, no valid row is deleted."""

import time
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import connection, transaction
from django.utils import timezone

from authservice.core import cleanup
from authservice.core.models import OneTimeToken, Session
from tests.races.crowd import Crowd, tally
from tests.support import needs
from tests.support.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), needs.several_writers]

OLD = timedelta(days=40)
PATIENCE = 20


@pytest.fixture(autouse=True)
def _no_rate_limits(configure):
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def crowd():
    gathered = Crowd()
    yield gathered
    gathered.close()


def write_expired_rows(number):
    past = timezone.now() - OLD
    OneTimeToken.objects.bulk_create(
        [
            OneTimeToken(purpose="verify-email", digest=f"{n:064x}", expires_at=past)
            for n in range(number)
        ]
    )


def clean(batch_size=50):
    expired = cleanup.expired_rows(sessions_kept=timedelta(days=30))
    return sum(cleanup.delete_expired(one, batch_size=batch_size) for one in expired)


@contextmanager
def held(rows):
    """Lock rows in another transaction until the block ends."""
    locked, done = Event(), Event()

    def hold():
        with transaction.atomic():
            list(rows.select_for_update())
            locked.set()
            done.wait(PATIENCE)
        connection.close()

    holder = Thread(target=hold)
    holder.start()
    assert locked.wait(PATIENCE)
    try:
        yield
    finally:
        done.set()
        holder.join()


def test_concurrent_cleanups_share_the_work(crowd):
    write_expired_rows(2000)

    assert sum(crowd.race([clean] * 8)) == 2000
    assert not OneTimeToken.objects.exists()


def test_locked_row_is_left_to_the_next_cleanup():
    write_expired_rows(3)
    with held(OneTimeToken.objects.filter(digest=f"{1:064x}")):
        assert clean() == 2

    assert clean() == 1


def test_cleanup_never_waits_for_a_session_in_use():
    refresh_tokens = [Api().sign_up(f"p{n}@example.com")["refresh_token"] for n in range(5)]
    live = Session.objects.order_by("created_at")[2].pk
    past = timezone.now() - OLD
    Session.objects.exclude(pk=live).update(expires_at=past, idle_expires_at=past)
    with held(Session.objects.filter(pk=live)):
        started = time.monotonic()
        assert clean() == 4
        assert time.monotonic() - started < PATIENCE / 2

    assert Api().post("refresh", refresh_token=refresh_tokens[2]).status == 200


def test_refreshes_succeed_during_a_cleanup(crowd):
    refresh_tokens = [Api().sign_up(f"p{n}@example.com")["refresh_token"] for n in range(8)]
    write_expired_rows(3000)

    def refresh(token):
        answers = []
        for _ in range(10):
            answers.append(Api(raising=False).post("refresh", refresh_token=token))
            token = (answers[-1].data or {}).get("refresh_token", "")
        return answers

    runs = crowd.race([clean, *[lambda token=token: refresh(token) for token in refresh_tokens]])

    assert runs[0] == 3000
    assert tally(answer for run in runs[1:] for answer in run) == {200: 80}
