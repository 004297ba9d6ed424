"""The clock of the package: one time for a unit of work."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.test import override_settings

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken, Session
from authservice.core.sessions import rotation, sessions
from authservice.core.users import lookup
from authservice.kernel import clock as source
from authservice.kernel.http import incoming
from tests.support.routes import routes

SECOND = timedelta(seconds=1)


@pytest.fixture
def waited(monkeypatch):
    """`waited(seconds)` lets time pass without a new reading, as in a wait for a lock."""
    passed = [0.0]
    real = source.monotonic
    monkeypatch.setattr(source, "monotonic", lambda: real() + passed[0])

    def wait(seconds):
        passed[0] += seconds

    return wait


def test_unit_has_one_time(clock):
    with source.unit():
        assert source.now() == source.utc() == source.now()
        assert source.timestamp() == source.now().timestamp()


def test_calls_outside_of_a_unit_have_their_own_times(clock):
    assert source.now() < source.now()


def test_next_unit_has_another_time(clock):
    with source.unit():
        before = source.now()
    with source.unit():
        assert source.now() > before


def test_inner_unit_ends_with_the_time_of_the_outer_one(clock):
    with source.unit():
        outer = source.now()
        with source.unit():
            assert source.now() > outer
        assert source.now() == outer


def test_unit_ends_with_an_exception(clock):
    with pytest.raises(ZeroDivisionError), source.unit():
        1 / 0  # noqa: B018

    assert source.now() < source.now()


def test_rule_that_is_called_outside_of_a_unit_is_one(clock):
    @source.once
    def rule():
        return source.now(), source.now()

    first, second = rule()

    assert first == second
    assert rule()[0] > second


def test_rule_within_a_unit_has_its_time(clock):
    rule = source.once(source.now)
    with source.unit():
        assert rule() == source.now()


def test_thread_does_not_see_the_time_of_another(clock):
    times = []
    with source.unit():
        thread = threading.Thread(target=lambda: times.append(source.now()))
        thread.start()
        thread.join()
        assert times[0] > source.now()


def test_tasks_of_one_loop_have_their_own_times(clock):
    async def request():
        with source.unit():
            before = source.now()
            await asyncio.sleep(0)
            return before, source.now()

    async def both():
        return await asyncio.gather(request(), request())

    (first, still_first), (second, still_second) = asyncio.run(both())

    assert (first, second) == (still_first, still_second)
    assert first != second


def test_naive_time_is_local_without_time_zones(clock):
    with override_settings(USE_TZ=False, TIME_ZONE="Asia/Kathmandu"), source.unit():
        assert source.now() == datetime(2030, 1, 1, 17, 45)
        assert source.utc() == datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_numbers_count_within_a_unit():
    with source.unit():
        assert [source.number(), source.number()] == [0, 1]
    assert source.number() == 0


def test_request_with_a_prompt_body_keeps_its_time(clock):
    with source.unit():
        began = source.now()
        source.complete()
        assert source.now() == began


def test_request_with_a_slow_body_has_the_time_of_its_end(clock, waited):
    with source.unit():
        began = source.now()
        waited(1.5)
        source.complete()
        assert source.now() > began
    assert source._current.get() is None


def test_time_for_spending_includes_the_wait(clock, waited):
    with source.unit():
        waited(30)
        assert source.by_now() >= source.now() + 30 * SECOND


@pytest.mark.django_db
class TestRequests:
    @pytest.mark.parametrize("route", routes(), ids=str)
    def test_request_reads_the_clock_once(self, api, monkeypatch, route):
        token = api.sign_up()["access_token"]
        readings, read = [], source._read
        monkeypatch.setattr(source, "_read", lambda: readings.append(1) or read())

        api.request(route.method, route.path, {} if route.method != "GET" else None, token=token)

        assert len(readings) == 1

    def test_nothing_remains_after_a_request(self, api):
        api.sign_up()

        assert source._current.get() is None

    def test_token_that_expires_while_the_body_arrives_is_refused(
        self, api, clock, waited, monkeypatch
    ):
        access_token = api.sign_up()["access_token"]
        clock.forward(minutes=14, seconds=59)
        receive = incoming.receive_body

        def receive_slowly(request):
            receive(request)
            clock.forward(seconds=30)
            waited(30)

        monkeypatch.setattr(incoming, "receive_body", receive_slowly)

        assert api.request("POST", "logout", token=access_token).code == "TOKEN_EXPIRED"

    def test_one_time_token_that_expires_during_a_wait_is_not_spent(self, api, clock, waited):
        api.sign_up("ann@example.com")
        person = lookup.find_by_email("ann@example.com")
        token = one_time.issue_link(one_time.RESET, person, person.email_key)
        clock.forward(minutes=59, seconds=45)

        with source.unit():
            issued = one_time.find_link(one_time.RESET, token)[1]
            waited(30)
            assert not one_time.consume(issued)
        assert OneTimeToken.objects.get(pk=issued.pk).spent_at is None

    def test_session_that_expires_during_a_wait_is_not_continued(self, api, clock, waited):
        api.sign_up()
        key = Session.objects.get().pk
        clock.forward(days=6, hours=23, minutes=59, seconds=45)

        with source.unit():
            assert rotation.find_valid(key)
            waited(30)
            assert rotation.find_valid(key) is None

    def test_refresh_token_that_expires_during_a_wait_is_refused(
        self, api, clock, waited, monkeypatch
    ):
        refresh_token = api.sign_up()["refresh_token"]
        clock.forward(days=6, hours=23, minutes=59, seconds=45)
        issue = sessions.issue_tokens

        def issue_slowly(person, session):
            waited(30)
            return issue(person, session)

        monkeypatch.setattr(sessions, "issue_tokens", issue_slowly)

        answer = api.post("refresh", refresh_token=refresh_token)

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
