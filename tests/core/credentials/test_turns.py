"""Attempts at one counter take turns: one that waits is not counted, and others do not wait."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread

import pytest
from django.contrib.auth.backends import BaseBackend

from authservice.core.credentials import lockout, passwords
from authservice.core.models import AttemptCounter
from authservice.core.users import identifiers, lookup
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from tests.support.client import PASSWORD
from tests.support.people import the_user

ANN = "ann@example.com"
BUSY = (503, "SERVICE_UNAVAILABLE")


@contextmanager
def taken(key):
    """Another thread checks an attempt at this counter."""
    begun, done = Event(), Event()

    def check():
        with passwords.hash_turn(key):
            begun.set()
            done.wait(30)

    thread = Thread(target=check)
    thread.start()
    try:
        assert begun.wait(10)
        yield
    finally:
        done.set()
        thread.join()


@pytest.fixture
def impatient(monkeypatch, configure):
    configure(CORE={"HASHES_IN_FLIGHT": 4})
    monkeypatch.setattr(passwords, "WAIT", 0.05)


def test_attempt_waits_for_the_one_before_it_at_the_same_counter(impatient):
    with taken("a"), pytest.raises(errors.ServiceUnavailable), passwords.hash_turn("a"):
        pytest.fail("Two attempts had their turn at once.")

    with passwords.hash_turn("a"):
        assert passwords._turns.keys() == {"a"}


def test_attempts_at_two_counters_run_at_once(configure):
    configure(CORE={"HASHES_IN_FLIGHT": 4})
    both = Barrier(2, timeout=10)

    def attempt(key):
        with passwords.hash_turn(key):
            return both.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(attempt, ("a", "b"))) == [0, 1]


def test_wait_for_the_counter_shortens_the_wait_for_a_slot(monkeypatch, configure):
    configure(CORE={"HASHES_IN_FLIGHT": 1})
    monkeypatch.setattr(passwords, "WAIT", 20.0)
    readings = iter((0.0, 20.0))  # the wait for the counter took as long as both may
    began = time.monotonic()
    with taken("b"):
        monkeypatch.setattr(passwords, "monotonic", lambda: next(readings))
        with pytest.raises(errors.ServiceUnavailable), passwords.hash_turn("a"):
            pytest.fail("There was no slot.")

    assert time.monotonic() - began < 10
    assert not passwords._turns


def test_turn_ends_with_an_exception(impatient):
    with pytest.raises(ZeroDivisionError), passwords.hash_turn("a"):
        1 / 0  # noqa: B018

    with taken("a"):
        assert passwords._turns.keys() == {"a"}
    assert not passwords._turns


def signed_up(api):
    return api.post("signup", email=ANN, password=PASSWORD)


@pytest.mark.django_db
def test_login_that_waits_for_its_turn_is_not_counted(api, impatient):
    api.sign_up()
    with taken(lockout.by_identifier(identifiers.email_key(ANN))):
        answers = [api.post("login", email=ANN, password=PASSWORD) for _ in range(12)]
        other = api.post("login", email="ben@example.com", password=PASSWORD)

    assert {answer.error for answer in answers} == {BUSY}
    assert other.error == (401, "INVALID_CREDENTIALS")
    assert AttemptCounter.objects.filter(count__gt=0).count() == 1  # that of the other
    api.log_in()


@pytest.mark.django_db
def test_login_on_a_known_device_waits_for_no_other_client(api, impatient):
    device = signed_up(api).headers["X-Device-Token"]
    with taken(lockout.by_identifier(identifiers.email_key(ANN))):
        answer = api.post("login", email=ANN, password=PASSWORD, headers={"X-Device-Token": device})

    assert answer.status == 200


@pytest.mark.django_db
def test_login_on_a_device_waits_for_the_other_login_on_it(api, impatient):
    device = signed_up(api).headers["X-Device-Token"]
    person = lookup.get_person(the_user())
    known = lockout.find_device(Client(device_token=Secret(device)).device, person)
    with taken(lockout.by_device(known)):
        answer = api.post("login", email=ANN, password=PASSWORD, headers={"X-Device-Token": device})

    assert answer.error == BUSY


@pytest.mark.django_db
def test_password_that_waits_for_its_turn_in_a_session_is_not_counted(api, impatient):
    token = api.sign_up()["access_token"]
    body = {"old_password": PASSWORD, "new_password": "another plum 43 window"}
    with taken(lockout.by_password_change(lookup.get_person(the_user()))):
        answer = api.request("PUT", "change-password", body, token=token)

    assert answer.error == BUSY
    assert not AttemptCounter.objects.filter(count__gt=0).exists()
    assert api.request("PUT", "change-password", body, token=token).status == 200


class Waiting(BaseBackend):
    """Waits for another server, while somebody else hashes a password."""

    def authenticate(self, request, username=None, password=None):
        with ThreadPoolExecutor(1) as pool:
            hashed.append(pool.submit(passwords.run_hash, lambda: True).result())


hashed = []


@pytest.mark.django_db
def test_backend_that_waits_for_a_server_occupies_no_slot(api, impatient, configure, settings):
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.Waiting"]
    configure(CORE={"HASHES_IN_FLIGHT": 1})
    hashed.clear()

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert hashed
