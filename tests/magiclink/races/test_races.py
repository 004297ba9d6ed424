"""Of concurrent uses of one e-mail exactly one logs in; concurrent jobs create one account."""

from collections import Counter
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from authservice.core import cleanup
from authservice.core.cleanup import ExpiredRows
from authservice.core.credentials import passwords
from authservice.core.messages import compose, kinds
from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.core.recovery import first_proof
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.databases import retry_on_deadlock
from authservice.magiclink import link_login
from tests.magiclink.magic import pair_of
from tests.races.crowd import SIZE, tally
from tests.support.flows import prove, wrong
from tests.support.people import users

LINK, CODE = "INVALID_TOKEN", "INVALID_VERIFICATION_CODE"


@pytest.fixture
def mailed(api, magic):
    """`mailed(number)`: a new user who verified the address, and a new e-mail for them."""

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
def test_link_used_concurrently_logs_in_once(crowd, magic, rounds, mailed, proven):
    for number in rounds:
        _, pair = mailed(number, proven=proven)

        answers = crowd.all_do(partial(magic.follow, pair.token))

        assert tally(answers) == {200: 1, LINK: SIZE - 1}
        assert alive() == number + 1


@pytest.mark.parametrize("proven", [True, False])
def test_code_used_concurrently_logs_in_once(crowd, magic, rounds, mailed, proven):
    for number in rounds:
        email, pair = mailed(number, proven=proven)

        answers = crowd.all_do(partial(magic.type, pair.code, email))

        assert tally(answers) == {200: 1, CODE: SIZE - 1}
        assert alive() == number + 1


def test_link_and_its_code_used_concurrently_log_in_once(crowd, magic, rounds, mailed):
    for number in rounds:
        email, pair = mailed(number)
        both = [partial(magic.follow, pair.token), partial(magic.type, pair.code, email)]

        answers = crowd.race(both * (SIZE // 2))

        assert tally(answers)[200] == 1
        assert alive() == number + 1


def test_link_and_its_form_used_concurrently_log_in_once(crowd, magic, rounds, mailed):
    for number in rounds:
        _, pair = mailed(number)
        both = [partial(magic.follow, pair.token), partial(magic.submit, pair.token)]

        answers = crowd.race(both * (SIZE // 2))

        assert tally(answers) == {200: 1, LINK: SIZE - 1}


def test_wrong_codes_sent_concurrently_count_five_attempts(crowd, magic, rounds, mailed):
    for number in rounds:
        email, pair = mailed(number)

        answers = crowd.all_do(partial(magic.type, wrong(pair.code), email))

        assert tally(answers) == {CODE: SIZE}
        assert max(AttemptCounter.objects.values_list("day_count", flat=True)) == 5
        assert magic.type(pair.code, email).code == CODE


def test_concurrent_jobs_for_an_unknown_address_create_one_account(
    crowd, magic, post, rounds, configure
):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"ENABLED": False})
    for number in rounds:
        magic.ask(f"new{number}@example.com")

        made = crowd.all_do(partial(compose.compose, post.jobs[-1]))

        assert users() == number + 1
        assert all(made)


def test_emails_composed_concurrently_leave_one_that_works(crowd, magic, post, rounds, mailed):
    for number in rounds:
        email, _ = mailed(number)
        magic.ask(email)
        pairs = [pair_of(one) for one in crowd.race([partial(compose.compose, post.jobs[-1])] * 8)]

        answers = [magic.follow(pair.token) for pair in pairs]

        assert tally(answers) == {200: 1, LINK: 7}


def confirm_address(email):
    """Confirms an address as every way to sign in does: lock the user, read them, confirm."""
    with transaction.atomic():
        passwords.lock_user(lookup.find_by_email(email))
        first_proof.confirm_address(lookup.find_by_email(email), Client())


def test_concurrent_confirmations_count_as_the_first_only_once(crowd, post, rounds, mailed):
    for number in rounds:
        email, _ = mailed(number, proven=False)
        post.jobs.clear()

        crowd.all_do(partial(retry_on_deadlock, partial(confirm_address, email)))

        assert Counter(post.kinds()) == {kinds.ACCESS_WIPED: 1}


def test_cleanup_beside_login_by_link_deletes_the_user_or_logs_in(crowd, magic, rounds, configure):
    """A login while the unused account is being deleted succeeds, or the link is invalid."""
    configure(MAGICLINK={"AUTO_REGISTER": True, "TTL": 3600}, THROTTLE={"ENABLED": False})
    for number in rounds:
        pair = magic.mailed(f"new{number}@example.com")
        OneTimeToken.objects.filter(purpose="first-use").update(expires_at=timezone.now())
        before = users()

        answer, *_ = crowd.race([partial(magic.follow, pair.token), *[delete_unused] * 3])

        logged_in = answer.status == 200
        assert logged_in or answer.code == LINK
        assert users() == before - (not logged_in)
        OneTimeToken.objects.filter(purpose="first-use").delete()


def delete_unused():
    [unused] = [ExpiredRows(*entry) for entry in link_login.expired_rows().items()]
    return cleanup.delete_expired(unused, batch_size=100)
