"""Of many who use one mail at once one gets in, and of many who ask as a stranger one is made."""

from collections import Counter
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from authservice.core import cleanup as sweeping
from authservice.core.cleanup import ExpiredRows
from authservice.core.credentials import passwords
from authservice.core.messages import compose
from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.core.recovery import first_proof
from authservice.core.users import lookup
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from authservice.magiclink import auto_register
from tests.magiclink.magic import pair_of
from tests.people import users
from tests.races.crowd import SIZE, tally
from tests.recovery.flows import prove, wrong

LINK, CODE = "INVALID_TOKEN", "INVALID_VERIFICATION_CODE"


@pytest.fixture
def mailed(api, magic):
    """A fresh mail to somebody new who has proven the address."""

    def mailed(number, *, proven=True):
        email = f"ann{number}@example.com"
        api.sign_up(email)
        if proven:
            prove(email)
        return email, magic.mailed(email)

    return mailed


def alive():
    return Session.objects.filter(amr="email", ended_at=None).count()


@pytest.mark.parametrize("proven", [True, False])
def test_a_link_signs_in_one(crowd, magic, rounds, mailed, proven):
    for number in rounds:
        _, pair = mailed(number, proven=proven)

        answers = crowd.all_do(partial(magic.follow, pair.token))

        assert tally(answers) == {200: 1, LINK: SIZE - 1}
        assert alive() == number + 1


@pytest.mark.parametrize("proven", [True, False])
def test_a_code_signs_in_one(crowd, magic, rounds, mailed, proven):
    for number in rounds:
        email, pair = mailed(number, proven=proven)

        answers = crowd.all_do(partial(magic.type, pair.code, email))

        assert tally(answers) == {200: 1, CODE: SIZE - 1}
        assert alive() == number + 1


def test_a_link_and_its_code_sign_in_one(crowd, magic, rounds, mailed):
    for number in rounds:
        email, pair = mailed(number)
        both = [partial(magic.follow, pair.token), partial(magic.type, pair.code, email)]

        answers = crowd.race(both * (SIZE // 2))

        assert tally(answers)[200] == 1
        assert alive() == number + 1


def test_the_link_and_its_button_sign_in_one(crowd, magic, rounds, mailed):
    for number in rounds:
        _, pair = mailed(number)
        both = [partial(magic.follow, pair.token), partial(magic.push, pair.token)]

        answers = crowd.race(both * (SIZE // 2))

        assert tally(answers) == {200: 1, LINK: SIZE - 1}


def test_of_many_wrong_codes_five_are_counted(crowd, magic, rounds, mailed):
    for number in rounds:
        email, pair = mailed(number)

        answers = crowd.all_do(partial(magic.type, wrong(pair.code), email))

        assert tally(answers) == {CODE: SIZE}
        assert max(AttemptCounter.objects.values_list("day_count", flat=True)) == 5
        assert magic.type(pair.code, email).code == CODE


def test_many_who_ask_with_an_address_nobody_knows_make_one_account(
    crowd, magic, post, rounds, configure
):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"ENABLED": False})
    for number in rounds:
        magic.ask(f"stranger{number}@example.com")

        made = crowd.all_do(partial(compose.compose, post.jobs[-1]))

        assert users() == number + 1
        assert all(made)


def test_of_mails_made_at_once_one_works(crowd, magic, post, rounds, mailed):
    for number in rounds:
        email, _ = mailed(number)
        magic.ask(email)
        pairs = [pair_of(one) for one in crowd.race([partial(compose.compose, post.jobs[-1])] * 8)]

        answers = [magic.follow(pair.token) for pair in pairs]

        assert tally(answers) == {200: 1, LINK: 7}


def proven_by_some_road(email):
    """As any road proves an address: hold the person, read them, and say so."""
    with transaction.atomic():
        passwords.lock_and_read(lookup.find_by_email(email))
        first_proof.confirm_address(lookup.find_by_email(email), Client())


def test_of_proofs_at_once_one_is_the_first(crowd, post, rounds, mailed):
    for number in rounds:
        email, _ = mailed(number, proven=False)
        post.jobs.clear()

        crowd.all_do(partial(proven_by_some_road, email))

        assert Counter(post.kinds()) == {message_queue.ACCESS_WIPED: 1}


def test_the_sweep_and_the_link_leave_nobody_half(crowd, magic, rounds, configure):
    """Whoever comes in the moment their account is to go is in, or finds the link void."""
    configure(MAGICLINK={"AUTO_REGISTER": True, "TTL": 3600}, THROTTLE={"ENABLED": False})
    for number in rounds:
        pair = magic.mailed(f"stranger{number}@example.com")
        OneTimeToken.objects.filter(purpose="first-use").update(expires_at=timezone.now())
        before = users()

        answer, *_ = crowd.race([partial(magic.follow, pair.token), *[sweep] * 3])

        entered = answer.status == 200
        assert entered or answer.code == LINK
        assert users() == before - (not entered)
        OneTimeToken.objects.filter(purpose="first-use").delete()


def sweep():
    [waste] = [ExpiredRows(*entry) for entry in auto_register.expired_rows().items()]
    return sweeping.delete_expired(waste, batch_size=100)
