"""A code works once and a try counts once, however many give it at the same instant."""

from functools import partial

import pytest

from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Arrival
from authservice.twofactor import challenges, lockout
from authservice.twofactor.models import Authenticator, BackupCode
from tests.races.crowd import SIZE, tally
from tests.twofactor.people import Person

REFUSED, NO_TOKEN, SHUT = "TWO_FACTOR_INVALID", "INVALID_TOKEN", "TOO_MANY_ATTEMPTS"


@pytest.fixture(autouse=True)
def _still(clock):
    """Codes change when a test says so."""


@pytest.fixture(autouse=True)
def _budget(monkeypatch):
    """A crowd is larger than the budget, which is not what most of these are about."""
    wide = lockout.Budget(limit=1000, window=lockout.BUDGET.window, longest=lockout.BUDGET.longest)
    monkeypatch.setattr(lockout, "BUDGET", wide)


@pytest.fixture
def person(api, crowd, clock):
    """Somebody with a second factor; the others of a round are made anew."""

    def make(number):
        made = Person(api, f"ann{number}@example.com").sign_up().enrol()
        clock.forward(seconds=30)
        return made

    return make


def temp_tokens(person):
    """One for each of the crowd, as so many logins would be answered."""
    whose = lookup.find_by_id(person.user_id)
    arrival = Arrival(person=whose, client=Client(), method="password", proofs=("pwd",))
    posed = [challenges.issue(challenges.GIVE_CODE, arrival) for _ in range(SIZE)]
    return [challenge.data["temp_token"] for challenge in posed]


def give(person, code, tokens):
    return [partial(person.verify_login, code, token) for token in tokens]


def test_a_code_of_the_app_opens_once_whatever_the_temp_token(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        tokens = temp_tokens(ann)

        answers = crowd.race(give(ann, ann.code(), tokens))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}


def test_a_backup_code_opens_once_whatever_the_temp_token(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        tokens = temp_tokens(ann)

        answers = crowd.race(give(ann, ann.backup_codes[0], tokens))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}
        assert BackupCode.objects.exclude(used_at=None).count() == number + 1


def test_a_temp_token_opens_once_whatever_the_code(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        token = ann.temp_token()
        codes = [ann.code(), *ann.backup_codes[:4]]  # as many as it has tries

        answers = crowd.race(partial(ann.verify_login, code, token) for code in codes)

        assert tally(answers) == {200: 1, NO_TOKEN: 4}
        # Who lost keeps the code.
        spent = BackupCode.objects.filter(authenticator__user=ann.user_id).exclude(used_at=None)
        assert spent.count() <= 1


def test_every_backup_code_opens_where_all_are_given_at_once(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        pairs = [(code, ann.temp_token()) for code in ann.backup_codes]

        answers = crowd.race(partial(ann.verify_login, *pair) for pair in pairs)

        assert tally(answers) == {200: 10}


def test_a_temp_token_takes_five_tries(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        token, wrong = ann.temp_token(), ann.wrong_code()

        answers = crowd.all_do(partial(ann.verify_login, wrong, token))

        assert tally(answers) == {REFUSED: 5, SHUT: SIZE - 5}


@pytest.mark.parametrize("kind", ["totp", "backup_code"])
def test_an_account_takes_ten_over_all_temp_tokens(crowd, rounds, person, monkeypatch, kind):
    monkeypatch.undo()
    for number in rounds:
        ann = person(number)
        wrong = ann.wrong_code() if kind == "totp" else "AAAA-BBBB-CCCC"
        tokens = temp_tokens(ann)

        answers = crowd.race(give(ann, wrong, tokens))

        assert tally(answers) == {REFUSED: 10, SHUT: SIZE - 10}


def test_a_code_disables_once(crowd, rounds, person):
    for number in rounds:
        ann = person(number)

        answers = crowd.all_do(partial(ann.post, "2fa/disable", code=ann.code()))

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, REFUSED, "TWO_FACTOR_NOT_ENABLED"}


def test_a_code_renews_the_backup_codes_once(crowd, rounds, person):
    for number in rounds:
        ann = person(number)

        answers = crowd.all_do(partial(ann.post, "2fa/backup-codes", code=ann.code()))

        assert tally(answers) == {200: 1, REFUSED: SIZE - 1}
        (codes,) = [a.data["backup_codes"] for a in answers if a.status == 200]
        assert ann.verify_login(codes[0]).status == 200


def test_what_was_set_up_is_enabled_once(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        ann.set_up()

        answers = crowd.all_do(partial(ann.post, "2fa/verify", code=ann.code()))

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, REFUSED, "TWO_FACTOR_ALREADY_ENABLED", NO_TOKEN}


def test_many_setups_at_once_leave_one_whose_codes_belong_together(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()

        answers = crowd.all_do(partial(ann.post, "2fa/setup"))

        assert tally(answers) == {200: SIZE}
        assert Authenticator.objects.filter(user=ann.user_id).count() == 1
        assert BackupCode.objects.filter(authenticator__user=ann.user_id).count() == 10


def test_a_setup_while_it_is_enabled_weakens_nothing(crowd, api, rounds, clock):
    """Either the code was of a secret that a setup had just replaced, or the secret stays."""
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
            # What any setup that was too late has answered opens nothing; what was scanned does.
            late = [a.data["backup_codes"][0] for a in others if a.status == 200]
            assert {ann.verify_login(code).code for code in late[:5]} <= {REFUSED}
            assert ann.verify_login(ann.code()).status == 200
            assert ann.verify_login(ann.backup_codes[0]).status == 200
        clock.forward(minutes=15)


def test_setups_against_an_enabled_one_change_nothing(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        before = Authenticator.objects.values().get(user=ann.user_id)

        answers = crowd.all_do(partial(ann.post, "2fa/setup"))

        assert tally(answers) == {"TWO_FACTOR_ALREADY_ENABLED": SIZE}
        assert Authenticator.objects.values().get(user=ann.user_id) == before


def test_no_sign_in_passes_while_the_factor_is_given_up_by_the_code_it_came_with(
    crowd, rounds, person
):
    for number in rounds:
        ann = person(number)
        token, code = ann.temp_token(), ann.code()

        entered, disabled = crowd.race(
            [
                partial(ann.verify_login, code, token),
                partial(ann.post, "2fa/disable", code=code),
            ]
        )

        assert [entered.status, disabled.status].count(200) == 1
