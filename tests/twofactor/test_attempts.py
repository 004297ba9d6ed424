"""Tries at codes are counted per account, over all sign-ins and routes, before they are judged."""

import pytest
from django.db import connections

from authservice.core.models import AttemptCounter
from authservice.core.users import lookup
from authservice.twofactor import lockout
from tests.client import PASSWORD
from tests.people import the_user
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
SHUT = (429, "TOO_MANY_ATTEMPTS")
NO_CODE = "AAAA-BBBB-CCCC"
ROUTES = ("2fa/disable", "2fa/backup-codes")


def guess(person, times, code=None):
    for _ in range(times):
        answer = person.verify_login(code or person.wrong_code())
    return answer


def test_ten_wrong_codes_shut_the_account_over_all_temp_tokens(enrolled):
    assert guess(enrolled, 10).error == REFUSED
    assert guess(enrolled, 1).error == SHUT


def test_the_right_code_is_shut_out_too(enrolled):
    guess(enrolled, 10)

    assert enrolled.verify_login(enrolled.code()).error == SHUT


def test_the_wait_is_told(enrolled):
    guess(enrolled, 10)

    assert guess(enrolled, 1).headers["Retry-After"] == "901"


def test_a_quarter_of_an_hour_later_it_is_open_again(enrolled, clock):
    guess(enrolled, 10)

    clock.forward(minutes=15)

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_then_each_try_is_followed_by_a_longer_wait_up_to_an_hour(enrolled, clock):
    guess(enrolled, 10)
    waits = [15]
    for _ in range(4):
        clock.forward(minutes=waits[-1])
        assert guess(enrolled, 1).error == REFUSED
        waits.append(int(guess(enrolled, 1).headers["Retry-After"]) // 60)

    assert waits[1:] == [15, 30, 60, 60]


@pytest.mark.parametrize("route", ROUTES)
def test_wrong_codes_of_somebody_signed_in_count_with_them(enrolled, route):
    for _ in range(5):
        enrolled.post(route, code=enrolled.wrong_code())
    guess(enrolled, 5)

    assert enrolled.post(route, code=enrolled.code()).error == SHUT
    assert enrolled.verify_login(enrolled.code()).error == SHUT


def test_enabling_is_limited_too(ann):
    ann.set_up()
    for _ in range(10):
        assert ann.post("2fa/verify", code=ann.wrong_code()).code == "TWO_FACTOR_INVALID"
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code()).error == SHUT


def test_who_uses_up_the_app_leaves_the_backup_codes(enrolled):
    guess(enrolled, 11)

    assert enrolled.verify_login(enrolled.backup_codes[0]).status == 200


def test_who_uses_up_the_backup_codes_leaves_the_app(enrolled):
    assert guess(enrolled, 11, NO_CODE).error == SHUT

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_a_used_up_temp_token_takes_nothing_from_the_account(enrolled):
    token = enrolled.temp_token()
    for _ in range(20):
        enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_a_made_up_temp_token_takes_nothing_from_anybody(enrolled):
    before = list(AttemptCounter.objects.values())
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code(), "A" * 43)

    assert list(AttemptCounter.objects.values()) == before


def test_a_right_code_gives_its_count_back(enrolled, clock):
    for _ in range(12):
        clock.forward(seconds=30)
        assert enrolled.verify_login(enrolled.code()).status == 200

    assert guess(enrolled, 10).error == REFUSED


def test_it_gives_no_other_count_back(enrolled, clock):
    guess(enrolled, 9)
    enrolled.verify_login(enrolled.code())

    assert guess(enrolled, 1).error == REFUSED
    assert guess(enrolled, 1).error == SHUT


def test_passwords_are_counted_apart(api, enrolled):
    guess(enrolled, 11)

    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_the_count_survives_where_each_request_is_a_transaction(enrolled, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)

    assert guess(enrolled, 10).error == REFUSED
    assert guess(enrolled, 1).error == SHUT


# Known devices


def device_of(answer):
    return {"X-Device-Token": answer.headers["X-Device-Token"]}


@pytest.fixture
def device(enrolled, clock):
    """The header of a device that its owner signed in on."""
    header = device_of(enrolled.verify_login(enrolled.code()))
    clock.forward(seconds=30)
    return header


def test_strangers_do_not_lock_a_known_device_out(enrolled, device):
    guess(enrolled, 11)

    assert enrolled.verify_login(enrolled.code(), headers=device).status == 200


def test_a_known_device_has_a_budget_too(enrolled, device):
    for _ in range(10):
        answer = enrolled.verify_login(enrolled.wrong_code(), headers=device)
    assert answer.error == REFUSED

    assert enrolled.verify_login(enrolled.code(), headers=device).error == SHUT
    assert enrolled.verify_login(enrolled.code()).status == 200


def test_devices_from_before_the_factor_have_no_tries_of_their_own(api, ann, clock):
    """Whoever had the password alone could sign in on as many as he liked."""
    body = {"email": ANN, "password": PASSWORD}
    early = [api.post("login", **body).headers["X-Device-Token"] for _ in range(3)]
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)

    guess(ann, 10)

    for token in early:
        answer = ann.verify_login(ann.wrong_code(), headers={"X-Device-Token": token})
        assert answer.error == SHUT


def test_the_device_that_enabled_it_has(api, ann, clock):
    entered = api.post("login", email=ANN, password=PASSWORD)
    ann.token = entered.data["access_token"]
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)

    guess(ann, 11)

    assert ann.verify_login(ann.code(), headers=device_of(entered)).status == 200


def test_such_a_device_has_some_once_a_code_was_given_on_it(api, ann, clock):
    early = device_of(api.post("login", email=ANN, password=PASSWORD))
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)
    later = device_of(ann.verify_login(ann.code(), headers=early))
    clock.forward(seconds=30)

    guess(ann, 11)

    assert ann.verify_login(ann.code(), headers=later).status == 200


def test_whoever_was_shut_out_can_be_unlocked(enrolled, device):
    guess(enrolled, 11)
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code(), headers=device)

    lockout.unlock([lookup.get_person(the_user())])

    assert enrolled.verify_login(enrolled.code(), headers=device).status == 200
    assert enrolled.verify_login(enrolled.code(1)).status == 200
