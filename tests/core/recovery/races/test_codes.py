"""Of concurrent attempts at a code at most five are counted, and at most one succeeds."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from authservice.core.credentials import lockout
from authservice.core.models import AttemptCounter
from authservice.kernel import secret
from tests.races.crowd import SIZE, tally
from tests.support.flows import NEW, prove, wrong

INVALID = "INVALID_VERIFICATION_CODE"


def counted():
    """The counts of attempts at codes."""
    rows = AttemptCounter.objects.filter(
        count__gt=0, ends_at__gt=timezone.now() + timedelta(hours=1)
    )
    return list(rows.values_list("count", flat=True))


@pytest.fixture
def person(api, crowd):
    """`person(number)`: a new user for each round, as e-mail address and phone number."""

    def person(number):
        email, phone = f"ann{number}@example.com", f"+493012345{number}"
        api.sign_up(email, phone_number=phone)
        return email, phone

    return person


@pytest.fixture
def verification(flows, api, person):
    """`verification(number)`: route and body of a request with a new verification code."""

    def verification(number):
        _, phone = person(number)
        return "verify-phone", {"phone": phone, "code": flows.phone_code(phone)}

    return verification


@pytest.fixture
def recovery(flows, api, person):
    """`recovery(number)`: route and body of a request with a new reset code."""

    def recovery(number):
        email, phone = person(number)
        prove(email, phone)
        code = flows.reset_code(phone)
        return "reset-password", {"phone": phone, "code": code, "new_password": NEW}

    return recovery


@pytest.fixture(params=["verification", "recovery"])
def fresh(request):
    return request.getfixturevalue(request.param)


def test_right_code_sent_concurrently_succeeds_once(crowd, api, rounds, fresh):
    for number in rounds:
        path, body = fresh(number)

        answers = crowd.all_do(partial(api.post, path, **body))

        assert tally(answers) == {200: 1, INVALID: SIZE - 1}


def test_wrong_codes_sent_concurrently_count_five_attempts(crowd, api, rounds, fresh):
    for number in rounds:
        path, body = fresh(number)

        answers = crowd.all_do(partial(api.post, path, **{**body, "code": wrong(body["code"])}))

        assert tally(answers) == {INVALID: SIZE}
        assert set(counted()) == {lockout.CODE_TRIES}
        AttemptCounter.objects.all().delete()


def test_right_code_is_refused_after_many_concurrent_wrong_codes(crowd, api, rounds, fresh):
    for number in rounds:
        path, body = fresh(number)
        crowd.all_do(partial(api.post, path, **{**body, "code": wrong(body["code"])}))

        assert api.post(path, **body).code == INVALID


def test_attempts_of_many_clients_at_many_codes_are_limited_to_ten_a_day(
    crowd, api, flows, rounds, recovery
):
    for number in rounds:
        path, body = recovery(number)
        for _ in range(3):
            crowd.all_do(partial(api.post, path, **{**body, "code": wrong(body["code"])}))
            body["code"] = flows.reset_code(body["phone"])

        assert max(AttemptCounter.objects.values_list("day_count", flat=True)) == 10
        assert api.post(path, **body).code == INVALID
        AttemptCounter.objects.all().delete()


def test_attempt_is_committed_before_the_code_is_compared(crowd, api, fresh, monkeypatch):
    path, body = fresh(1)
    recorded, compare = [], secret.matches

    def watched(purpose, text, stored):
        if purpose == "one-time-code":
            # Read in another thread, whose connection sees only what is committed.
            recorded.extend(crowd.race([lambda: counted()]))
        return compare(purpose, text, stored)

    monkeypatch.setattr(secret, "matches", watched)

    api.post(path, **{**body, "code": wrong(body["code"])})

    assert recorded == [[1]]


def test_codes_requested_concurrently_leave_one_that_works(crowd, api, rounds, flows, post, person):
    for number in rounds:
        _, phone = person(number)
        post.jobs.clear()
        crowd.race([partial(api.post, "send-verification-phone", phone=phone)] * 3)
        codes = [flows.post.code("verify-phone") for _ in post.jobs]

        answers = [api.post("verify-phone", phone=phone, code=code) for code in codes]

        assert tally(answers)[200] == 1
