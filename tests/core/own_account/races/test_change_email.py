"""A new address goes to one account, once, and to none whose password was reset meanwhile."""

from functools import partial

import pytest

from authservice.core.messages import kinds, limits
from authservice.core.models import Account, OneTimeToken
from authservice.core.own_account import email_change
from authservice.core.users import identifiers, lookup
from authservice.kernel import throttling
from tests.core.own_account.owner import confirm
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD
from tests.support.flows import account, prove

INVALID = "INVALID_VERIFICATION_TOKEN"
REFUSED = "INVALID_TOKEN"  # of a reset
USERS = 4  # of a crowd, each with an equal share of the requests


@pytest.fixture
def people(api, crowd):
    """Tokens of some users by their address."""
    emails = [f"ann{number}@example.com" for number in range(USERS)]
    return {email: api.sign_up(email)["access_token"] for email in emails}


@pytest.fixture
def link(api, post):
    """`link(token, email)`: the token of a link to the address."""

    def link(token, email):
        body = {"email": email, "password": PASSWORD}
        answer = api.request("POST", "change-email", body, token=token)
        assert answer.status == 200, answer.body
        return post.token(kinds.CHANGE_EMAIL)

    return link


def test_free_address_confirmed_by_several_users_goes_to_one(crowd, api, rounds, people, link):
    for number in rounds:
        wanted = f"eve{number}@example.com"
        links = [link(token, wanted) for token in people.values()]

        answers = crowd.race([partial(confirm, api, one) for one in links] * (SIZE // USERS))

        # Each further click on the link of the winner says success too.
        assert tally(answers) == {200: SIZE // USERS, INVALID: SIZE - SIZE // USERS}
        key = identifiers.email_key(wanted)
        assert Account.objects.filter(email_claim=key).count() == 1


def test_free_address_goes_to_a_signup_or_to_the_change(crowd, api, rounds, people, link):
    token = next(iter(people.values()))
    for number in rounds:
        wanted = f"eve{number}@example.com"
        change = partial(confirm, api, link(token, wanted))
        sign_up = partial(api.post, "signup", email=wanted, password=PASSWORD)

        answers = crowd.race([change, *[sign_up] * (SIZE // 4)])

        won = [answer for answer in answers if answer.status < 300]
        assert len(won) == 1
        assert Account.objects.filter(email_claim=identifiers.email_key(wanted)).count() == 1


def test_former_proven_address_is_never_free(crowd, api, rounds, link):
    """Neither before the change commits nor after it, so no sign-up takes it in between."""
    for number in rounds:
        former = f"old{number}@example.com"
        token = api.sign_up(former)["access_token"]
        prove(former)
        change = partial(confirm, api, link(token, f"new{number}@example.com"))
        sign_up = partial(api.post, "signup", email=former, password=PASSWORD)

        changed, *others = crowd.race([change, *[sign_up] * (SIZE // 4)])

        assert changed.status == 200
        assert tally(others) == {"USER_ALREADY_EXISTS": SIZE // 4}


def test_link_confirmed_concurrently_succeeds_for_all_and_acts_once(crowd, api, rounds, link, post):
    for number in rounds:
        former = f"old{number}@example.com"
        token = api.sign_up(former)["access_token"]
        prove(former)
        opened = link(token, f"new{number}@example.com")
        post.jobs.clear()

        answers = crowd.all_do(partial(confirm, api, opened))

        assert tally(answers) == {200: SIZE}
        assert sorted(post.kinds()) == ["email-change-confirmed", "email-changed"]
        assert email_change.reserved_for(identifiers.email_key(former)).count() == 1


def test_change_or_reset_succeeds_but_never_both(crowd, api, rounds, link, flows):
    for number in rounds:
        former, wanted = f"old{number}@example.com", f"new{number}@example.com"
        token = api.sign_up(former)["access_token"]
        prove(former)
        opened, secret = link(token, wanted), flows.reset_token(former)

        pair = [partial(confirm, api, opened), partial(flows.reset, secret, email=former)]
        answers = crowd.race(pair * (SIZE // 2))
        changes, resets = tally(answers[::2]), tally(answers[1::2])

        if 200 in resets:
            assert (changes, resets) == ({INVALID: SIZE // 2}, {200: 1, REFUSED: SIZE // 2 - 1})
            assert account(former).email == former
        else:
            # Each further click on the link says success too.
            assert (changes, resets) == ({200: SIZE // 2}, {REFUSED: SIZE // 2})
            assert account(wanted).email == wanted


def test_concurrent_requests_leave_one_open_link(crowd, api, rounds, people):
    [(email, token), *_] = people.items()
    for number in rounds:
        contenders = [
            partial(
                api.request,
                "POST",
                "change-email",
                {"email": f"eve{number}-{place}@example.com", "password": PASSWORD},
                token=token,
            )
            for place in range(SIZE // 4)
        ]

        assert tally(crowd.race(contenders))[200] == SIZE // 4

        person = lookup.find_by_email(email)
        rows = OneTimeToken.objects.filter(
            purpose=email_change.CHANGE_EMAIL.name, user=person.user.pk, spent_at=None
        )
        assert rows.count() == 1


def test_concurrent_requests_beyond_the_limit_of_mails_leave_a_link_that_was_mailed(
    crowd, api, rounds, post, configure
):
    people = [api.sign_up(f"ann{number}@example.com") for number in rounds]
    rates = dict.fromkeys(throttling.RATES, "10000/min")
    configure(THROTTLE={"ENABLED": True, "RATES": rates})
    for number, owner in enumerate(people):
        body = {"email": f"eve{number}@example.com", "password": PASSWORD}
        token, user = owner["access_token"], owner["user"]["id"]
        post.jobs.clear()

        answers = crowd.race([partial(api.request, "POST", "change-email", body, token=token)] * 5)

        assert {(answer.status, str(answer.body)) for answer in answers} == {
            (200, str(answers[0].body))
        }
        jobs = [job for job in post.jobs if job.kind == kinds.CHANGE_EMAIL]
        assert len(jobs) == limits.SENDER_SOON.amount
        [row] = OneTimeToken.objects.filter(
            purpose=email_change.CHANGE_EMAIL.name, user=user, spent_at=None
        )
        post.jobs[:] = [job for job in jobs if job.details[email_change.REQUEST] == str(row.pk)]
        assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200
