"""A number that several accounts have belongs to the one that verifies it first."""

from functools import partial
from threading import Event

import pytest

from authservice.core.credentials import one_time
from authservice.core.models import Account
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
    assert verified.status == 200
    assert took.error in (IN_USE, (200, ""))
    assert (ann.verified_phone_key, bob.phone_number) == (phone_key(PHONE), "")


def test_number_verified_by_several_accounts_at_once_is_kept_by_one(crowd, api, flows, rounds):
    for number in rounds:
        phone = f"+49301234{number:04d}"
        verifications = []
        for name in range(3):
            user = api.sign_up(f"u{name}-{number}@example.com", phone_number=phone)
            token = user["access_token"]
            code = flows.phone_code(phone, token)
            verifications.append(
                partial(api.post, "verify-phone", phone=phone, code=code, token=token)
            )

        answers = crowd.race(verifications)

        assert sorted(answer.error for answer in answers) == [(200, ""), INVALID, INVALID]
        [kept] = Account.objects.filter(phone_key=phone_key(phone))
        assert kept.verified_phone_key == kept.phone_key
