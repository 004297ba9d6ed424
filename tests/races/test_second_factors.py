"""Concurrent second steps: a code works once, and every attempt is counted."""

from functools import partial

import pytest

from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Arrival
from authservice.twofactor import authenticators, verify_login
from authservice.twofactor.models import Authenticator, BackupCode
from tests.races.crowd import SIZE, tally
from tests.twofactor.people import Person

REFUSED, NO_TOKEN, LIMITED = "TWO_FACTOR_INVALID", "INVALID_TOKEN", "TOO_MANY_ATTEMPTS"


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time, so that TOTP codes change only when a test forwards it."""


@pytest.fixture(autouse=True)
def _budget(monkeypatch):
    """A crowd is larger than the limit of attempts, which most of these tests do not concern."""
    wide = authenticators.Budget(
        limit=1000, window=authenticators.BUDGET.window, longest=authenticators.BUDGET.longest
    )
    monkeypatch.setattr(authenticators, "BUDGET", wide)


@pytest.fixture
def person(api, crowd, clock):
    """Create a user with a second factor for each round."""

    def make(number):
        user = Person(api, f"ann{number}@example.com").sign_up().enrol()
        clock.forward(seconds=30)
        return user

    return make


def temp_tokens(person):
    """One challenge for each thread of the crowd, as logins would issue them."""
    user = lookup.find_by_id(person.user_id)
    arrival = Arrival(person=user, client=Client(), method="password", proofs=("pwd",))
    issued = [
        verify_login.issue_challenge(verify_login.GIVE_CODE, arrival, ()) for _ in range(SIZE)
    ]
    return [challenge.data["temp_token"] for challenge in issued]


def second_steps(person, code, tokens):
    return [partial(person.verify_login, code, token) for token in tokens]


def test_totp_code_works_once_with_parallel_temp_tokens(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        tokens = temp_tokens(ann)

        answers = crowd.race(second_steps(ann, ann.code(), tokens))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}


def test_backup_code_works_once_with_parallel_temp_tokens(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        tokens = temp_tokens(ann)

        answers = crowd.race(second_steps(ann, ann.backup_codes[0], tokens))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}
        assert BackupCode.objects.exclude(used_at=None).count() == number + 1


def test_temp_token_works_once_with_parallel_codes(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        token = ann.temp_token()
        codes = [ann.code(), *ann.backup_codes[:4]]  # as many as the temporary token has attempts

        answers = crowd.race(partial(ann.verify_login, code, token) for code in codes)

        assert tally(answers) == {200: 1, NO_TOKEN: 4}
        # A refused request does not use up its code.
        used = BackupCode.objects.filter(authenticator__user=ann.user_id).exclude(used_at=None)
        assert used.count() <= 1


def test_all_backup_codes_work_in_parallel(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        pairs = [(code, ann.temp_token()) for code in ann.backup_codes]

        answers = crowd.race(partial(ann.verify_login, *pair) for pair in pairs)

        assert tally(answers) == {200: 10}


def test_temp_token_accepts_five_parallel_attempts(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        token, wrong = ann.temp_token(), ann.wrong_code()

        answers = crowd.all_do(partial(ann.verify_login, wrong, token))

        assert tally(answers) == {REFUSED: 5, LIMITED: SIZE - 5}


@pytest.mark.parametrize("kind", ["totp", "backup_code"])
def test_account_accepts_ten_parallel_attempts_over_all_temp_tokens(
    crowd, rounds, person, monkeypatch, kind
):
    monkeypatch.undo()
    for number in rounds:
        ann = person(number)
        wrong = ann.wrong_code() if kind == "totp" else "AAAA-BBBB-CCCC"
        tokens = temp_tokens(ann)

        answers = crowd.race(second_steps(ann, wrong, tokens))

        assert tally(answers) == {REFUSED: 10, LIMITED: SIZE - 10}


def test_code_disables_the_factor_once_in_parallel(crowd, rounds, person):
    for number in rounds:
        ann = person(number)

        answers = crowd.all_do(partial(ann.post, "2fa/disable", code=ann.code()))

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, REFUSED, "TWO_FACTOR_NOT_ENABLED"}


def test_code_renews_the_backup_codes_once_in_parallel(crowd, rounds, person):
    for number in rounds:
        ann = person(number)

        answers = crowd.all_do(partial(ann.post, "2fa/backup-codes", code=ann.code()))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}
        (codes,) = [a.data["backup_codes"] for a in answers if a.status == 200]
        assert ann.verify_login(codes[0]).status == 200


def test_factor_is_enabled_once_in_parallel(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        ann.set_up()

        answers = crowd.all_do(partial(ann.post, "2fa/verify", code=ann.code()))

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, REFUSED, "TWO_FACTOR_ALREADY_ENABLED", NO_TOKEN}


def test_parallel_factor_setups_leave_one_consistent_factor(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()

        answers = crowd.all_do(partial(ann.post, "2fa/setup"))

        assert tally(answers) == {200: SIZE}
        assert Authenticator.objects.filter(user=ann.user_id).count() == 1
        assert BackupCode.objects.filter(authenticator__user=ann.user_id).count() == 10


def test_factor_setup_while_factor_is_enabled_does_not_replace_it(crowd, api, rounds, clock):
    """Either a setup had replaced the secret before the code was checked, or the secret stays."""
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        ann.set_up()
        setups = [partial(ann.post, "2fa/setup")] * (SIZE - 1)

        enabled, *others = crowd.race([partial(ann.post, "2fa/verify", code=ann.code()), *setups])

        row = Authenticator.objects.get(user=ann.user_id)
        assert row.confirmed is (enabled.status == 200)
        assert set(tally(others)) <= {200, "TWO_FACTOR_ALREADY_ENABLED"}
        if row.confirmed:
            clock.forward(seconds=30)
            # The codes of a setup that came too late are invalid; those of the scanned secret work.
            late = [a.data["backup_codes"][0] for a in others if a.status == 200]
            assert {ann.verify_login(code).code for code in late[:5]} <= {REFUSED}
            assert ann.verify_login(ann.code()).status == 200
            assert ann.verify_login(ann.backup_codes[0]).status == 200
        clock.forward(minutes=15)


def test_parallel_setups_do_not_change_an_enabled_factor(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        before = Authenticator.objects.values().get(user=ann.user_id)

        answers = crowd.all_do(partial(ann.post, "2fa/setup"))

        assert tally(answers) == {"TWO_FACTOR_ALREADY_ENABLED": SIZE}
        assert Authenticator.objects.values().get(user=ann.user_id) == before


def test_code_used_for_login_and_disabling_in_parallel_works_once(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        token, code = ann.temp_token(), ann.code()

        login = partial(ann.verify_login, code, token)
        disable = partial(ann.post, "2fa/disable", code=code)

        # As many logins as the temporary token has attempts.
        answers = crowd.race([*[login] * 5, *[disable] * (SIZE - 5)])

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, REFUSED, NO_TOKEN, "TWO_FACTOR_NOT_ENABLED"}
