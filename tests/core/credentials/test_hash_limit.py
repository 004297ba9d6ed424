"""How many passwords are hashed at once, and the response to a request that gets no slot."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Lock, current_thread

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import MD5PasswordHasher

from authservice.core.credentials import one_time, passwords
from authservice.core.models import AttemptCounter
from authservice.core.users import identifiers, lookup
from authservice.kernel import errors
from authservice.kernel.secret import Secret
from tests.support.client import PASSWORD
from tests.support.flows import PHONE, prove

BUSY = (503, "SERVICE_UNAVAILABLE")
THREADS = 12


class Slow(MD5PasswordHasher):
    """A slow hasher that records how many hashes run at once."""

    algorithm = "slow"
    lock = Lock()
    running = most = 0

    def encode(self, password, salt):
        with Slow.lock:
            Slow.running += 1
            Slow.most = max(Slow.most, Slow.running)
        time.sleep(0.02)
        with Slow.lock:
            Slow.running -= 1
        return super().encode(password, salt)


@pytest.fixture
def slow(settings):
    settings.PASSWORD_HASHERS = ["tests.core.credentials.test_hash_limit.Slow"]
    Slow.running = Slow.most = 0
    return Slow


@pytest.fixture
def busy(monkeypatch, configure):
    """Returns a context manager during which other requests hold every slot."""
    configure(CORE={"HASHES_IN_FLIGHT": 2})
    monkeypatch.setattr(passwords, "WAIT", 0.01)

    def occupy():
        stack = ExitStack()
        for _ in range(2):
            stack.enter_context(passwords.hash_slot())
        return stack

    return occupy


def in_threads(work):
    with ThreadPoolExecutor(THREADS) as pool:
        return [run.result() for run in [pool.submit(work) for _ in range(THREADS)]]


def test_concurrent_hashes_are_bounded_by_the_setting(slow, configure):
    configure(CORE={"HASHES_IN_FLIGHT": 3})

    hashed = in_threads(lambda: passwords.hash_new_password(Secret(PASSWORD), get_user_model()()))

    assert len(hashed) == THREADS
    assert slow.most == 3


def test_hashes_run_in_at_most_as_many_threads_as_the_setting_allows(configure):
    configure(CORE={"HASHES_IN_FLIGHT": 2})

    names = set(in_threads(lambda: passwords.run_hash(lambda: current_thread().name)))

    assert 1 <= len(names) <= 2
    assert all(name.startswith("authservice-hash") for name in names)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_hashes_in_a_forked_process_have_their_own_threads():
    passwords.run_hash(lambda: None)
    child = os.fork()
    if not child:
        done = passwords.run_hash(lambda: True)
        os._exit(0 if done else 1)

    assert os.waitpid(child, 0)[1] == 0


def test_concurrent_hashes_are_twice_the_cores_by_default(monkeypatch):
    monkeypatch.setattr(passwords.os, "cpu_count", lambda: 3)

    assert passwords.hashes_at_once() == 6


def test_hash_without_a_slot_is_refused_after_the_wait(slow, configure, monkeypatch):
    configure(CORE={"HASHES_IN_FLIGHT": 1})
    monkeypatch.setattr(passwords, "WAIT", 0.05)

    def hashed():
        try:
            return bool(passwords.hash_new_password(Secret(PASSWORD), get_user_model()()))
        except errors.ServiceUnavailable:
            return False

    done = in_threads(hashed)

    # One at a time, of 0.02 s each: three or four get a slot within the wait.
    assert 1 <= done.count(True) < THREADS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("email", ["ann@example.com", "nobody@example.com"])
def test_login_without_a_hash_slot_is_503_and_no_attempt(api, busy, email):
    api.sign_up()
    with busy():
        answers = [api.post("login", email=email, password="wrong") for _ in range(12)]

    assert {answer.error for answer in answers} == {BUSY}
    assert answers[0].headers["Retry-After"] == "2"
    assert not AttemptCounter.objects.filter(count__gt=0).exists()
    api.log_in()


@pytest.mark.django_db(transaction=True)
def test_login_without_a_hash_slot_does_not_count_for_its_network(api, busy, configure):
    api.sign_up()
    configure(THROTTLE={"RATES": {"guess": "3/15min"}}, CORE={"HASHES_IN_FLIGHT": 2})
    with busy():
        for _ in range(5):
            assert api.post("login", email="ann@example.com", password=PASSWORD).error == BUSY

    configure(THROTTLE={"RATES": {"guess": "3/15min"}})
    api.log_in()


@pytest.mark.django_db
def test_signup_without_a_hash_slot_is_503_and_creates_no_account(api, busy):
    with busy():
        assert api.post("signup", email="ann@example.com", password=PASSWORD).error == BUSY

    assert not get_user_model().objects.exists()


@pytest.mark.django_db(transaction=True)
def test_password_change_without_a_hash_slot_is_503_and_no_attempt(api, busy):
    token = api.sign_up()["access_token"]
    body = {"old_password": PASSWORD, "new_password": "another plum 43 window"}
    with busy():
        answers = [api.request("PUT", "change-password", body, token=token) for _ in range(12)]

    assert {answer.error for answer in answers} == {BUSY}
    assert api.request("PUT", "change-password", body, token=token).status == 200


def owner():
    return lookup.get_person(get_user_model().objects.get())


@pytest.mark.django_db
def test_reset_by_link_without_a_hash_slot_is_503_and_keeps_the_link(api, busy):
    api.sign_up()
    token = one_time.issue_link(one_time.RESET, owner(), owner().email_key)
    reset = {"email": "ann@example.com", "token": token, "new_password": "plum 43 windows"}
    with busy():
        assert api.request("POST", "reset-password", reset).error == BUSY

    assert api.request("POST", "reset-password", reset).status == 200


@pytest.mark.django_db
def test_reset_by_code_without_a_hash_slot_is_503_and_no_attempt(api, busy):
    api.sign_up(phone_number=PHONE)
    prove(phone=PHONE)
    code = one_time.issue_code(one_time.RESET, owner(), identifiers.phone_key(PHONE))
    reset = {"phone": PHONE, "code": code, "new_password": "plum 43 windows"}
    with busy():
        assert {api.request("POST", "reset-password", reset).error for _ in range(7)} == {BUSY}

    assert api.request("POST", "reset-password", reset).status == 200


@pytest.mark.django_db
def test_attempts_at_a_locked_account_leave_the_slots_free(api, configure):
    configure(CORE={"HASHES_IN_FLIGHT": 1})
    api.sign_up()
    for _ in range(12):
        refused = api.post("login", email="ann@example.com", password="wrong")

    assert refused.status == 429
    assert passwords._current_slots().free.acquire(blocking=False)
    passwords._current_slots().free.release()
