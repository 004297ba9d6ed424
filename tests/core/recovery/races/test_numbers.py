"""A number that one user verifies while another user sets it belongs to one of them."""

from functools import partial
from threading import Event

import pytest

from authservice.core.credentials import one_time
from authservice.core.users.identifiers import phone_key
from tests.support.flows import PHONE, account

BOB = "bob@example.com"
IN_USE = (400, "PHONE_ALREADY_IN_USE")
INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture
def requests(api, flows):
    """Ann verifies her number; Bob sets the same one."""
    api.sign_up(phone_number=PHONE)
    token = api.sign_up(BOB)["access_token"]
    return (
        partial(api.post, "verify-phone", phone=PHONE, code=flows.phone_code()),
        partial(api.request, "PUT", "profile", {"phone": PHONE}, token=token),
    )


def test_number_set_by_another_user_after_its_code_was_accepted_stays(crowd, requests, monkeypatch):
    verify, take = requests
    accepted, taken = Event(), Event()
    consume = one_time.consume_for

    def consume_and_wait(*args):
        present = consume(*args)
        accepted.set()
        taken.wait(1)  # without the lock of Ann, the request of Bob ends within this time
        return present

    def take_after_the_code():
        accepted.wait(60)
        answer = take()
        taken.set()
        return answer

    monkeypatch.setattr(one_time, "consume_for", consume_and_wait)

    verified, took = crowd.race([verify, take_after_the_code])

    assert (verified.status, took.error) == (200, IN_USE)
    assert account().phone_number == PHONE
    assert account().verified_phone_key == phone_key(PHONE)
    assert account(BOB).phone_number == ""


def test_number_verified_and_set_concurrently_belongs_to_one_user(crowd, requests):
    verified, took = crowd.race(requests)

    ann, bob = account(), account(BOB)
    if verified.status == 200:
        assert took.error == IN_USE
        assert (ann.verified_phone_key, bob.phone_number) == (phone_key(PHONE), "")
    else:
        assert (verified.error, took.status) == (INVALID, 200)
        assert (ann.verified_phone_key, ann.phone_number, bob.phone_number) == ("", "", PHONE)
