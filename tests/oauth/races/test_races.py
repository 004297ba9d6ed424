"""Of concurrent callbacks of one flow one logs in; concurrent first logins make one account."""

from collections import Counter
from datetime import timedelta
from functools import partial
from threading import Event

import pytest
from django.utils import timezone

from authservice.core.models import Account, Session
from authservice.kernel import modules
from authservice.oauth import sign_in
from authservice.oauth import tokens as provider_tokens
from authservice.oauth.models import LinkedAccount, RestorableLink
from authservice.oauth.provider import ProviderTokens
from authservice.oauth.storage import links
from authservice.oauth.tokens import access_token
from authservice.twofactor.verify_login import second_factor
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import office
from tests.races.crowd import SIZE, tally
from tests.support.flows import Flows, prove
from tests.support.people import the_user, users
from tests.twofactor.people import Person

USED = "OAUTH_STATE_USED"
SIZES = [8, pytest.param(SIZE, marks=pytest.mark.slow)]


def hers(number, **more):
    return profile(f"ann{number}-at-acme", f"ann{number}@example.com", **more)


def ready(api, who, provider="acme"):
    """A callback of a browser of its own, about to be requested."""
    browser = Browser(api)
    return partial(browser.come_back, office.approve(browser.start(provider), who))


def linking(api, token, who, provider="acme"):
    """A callback that links, of a browser of its own, about to be requested."""
    browser = Browser(api)
    url = browser.start_linking(token, provider).data["url"]
    return partial(browser.come_back, office.approve(url, who))


def unlinking(api, token, provider="acme"):
    return partial(api.request, "DELETE", f"oauth/{provider}", token=token)


def test_callbacks_with_one_code_log_in_once(crowd, api, rounds):
    for number in rounds:
        answers = crowd.all_do(ready(api, hers(number)))

        assert tally(answers) == {200: 1, USED: SIZE - 1}
        assert (Session.objects.count(), users()) == (number + 1, number + 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("verified", [True, False])
def test_first_logins_at_once_create_one_user_and_one_link(crowd, api, rounds, verified, size):
    for number in rounds:
        who = hers(number, email_verified=verified)

        answers = crowd.race([ready(api, who) for _ in range(size)])

        assert tally(answers) == {200: size}
        assert len({answer.data["user"]["id"] for answer in answers}) == 1
        assert sum(answer.data["is_new_user"] for answer in answers) == 1
        assert (users(), LinkedAccount.objects.count()) == (number + 1, number + 1)


def test_first_logins_with_one_subject_and_two_addresses_create_one_user(crowd, api, rounds):
    for number in rounds[:5]:
        both = [hers(number), profile(f"ann{number}-at-acme", f"moved{number}@example.com")]

        answers = crowd.race([ready(api, who) for who in both * 8])

        assert tally(answers) == {200: 16}
        assert users() == number + 1


@pytest.mark.parametrize("proven", [True, False])
def test_first_logins_to_an_existing_account_link_it_once(crowd, api, rounds, proven):
    for number in rounds[:4]:
        api.sign_up(f"ann{number}@example.com")
        if proven:
            prove(f"ann{number}@example.com")

        answers = crowd.race([ready(api, hers(number)) for _ in range(16)])

        assert tally(answers) == {200: 16}
        assert LinkedAccount.objects.count() == number + 1
        assert all(api.get("me", token=one.data["access_token"]).status == 200 for one in answers)


def test_two_identities_at_once_link_one_of_them(crowd, api, rounds):
    for number in rounds[:5]:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        prove(email)
        identities = [profile(f"{number}-{place}", email) for place in range(8)]

        answers = crowd.race([ready(api, who) for who in identities])

        assert tally(answers) == {200: 1, "OAUTH_ALREADY_LINKED": 7}
        assert LinkedAccount.objects.count() == number + 1


@pytest.mark.parametrize("size", SIZES)
def test_links_and_unlinks_at_once_leave_what_the_last_one_says(crowd, api, rounds, size):
    for number in rounds:
        email = f"ann{number}@example.com"
        token = api.sign_up(email)["access_token"]
        Browser(api).link(token, hers(number))
        addresses = [linking(api, token, hers(number)) for _ in range(size // 2)]

        answers = crowd.race([*addresses, *[unlinking(api, token)] * (size // 2)])

        linked, unlinked = tally(answers[: size // 2]), tally(answers[size // 2 :])
        assert linked == {200: size // 2}
        assert set(unlinked) <= {200, "OAUTH_NOT_LINKED"}
        # The first link is removed at least once; each removal is remembered once.
        remembered = RestorableLink.objects.filter(user=the_user(email).pk)
        assert unlinked[200] == remembered.count() > 0
        shown = api.get("oauth/linked", token=token).data["providers"]
        assert len(shown) == LinkedAccount.objects.filter(subject=hers(number).subject).count() <= 1


def test_last_two_providers_unlinked_at_once_keep_one(crowd, api, rounds, providers):
    names = [f"p{place}" for place in range(8)]
    providers(acme={}, **{name: {} for name in names})
    for number in rounds[:3]:
        browser = Browser(api)
        token = browser.sign_in(hers(number)).data["access_token"]
        for name in names:
            browser.link(token, hers(number), name)

        answers = crowd.race([unlinking(api, token, name) for name in ("acme", *names)])

        assert tally(answers) == {200: 8, "OAUTH_LAST_LOGIN_METHOD": 1}
        assert LinkedAccount.objects.count() == number + 1


def test_unlinking_the_last_provider_at_once_is_refused(crowd, api, rounds):
    for number in rounds[:5]:
        token = Browser(api).sign_in(hers(number)).data["access_token"]

        answers = crowd.race([unlinking(api, token)] * 20)

        assert tally(answers) == {"OAUTH_LAST_LOGIN_METHOD": 20}


def test_one_nonce_logs_in_once(crowd, api, rounds):
    for number in rounds[:5]:
        nonce = api.post("oauth/acme/nonce").data["nonce"]
        id_token = office.id_token(hers(number), nonce)
        trade = partial(api.post, "oauth/acme/token", id_token=id_token, nonce=nonce)

        assert tally(crowd.all_do(trade)) == {200: 1, USED: SIZE - 1}


def test_login_beside_a_reset_of_an_intruder_leaves_no_session(crowd, api, rounds, post):
    """The reset removes the link of the intruder, whose callback arrives at the same time."""
    for number in rounds[:10]:
        email = f"ann{number}@example.com"
        token = api.sign_up(email)["access_token"]
        prove(email)
        eve = profile(f"eve{number}", f"eve{number}@example.com")
        Browser(api).link(token, eve)
        flows = Flows(api, post)
        reset = partial(flows.reset, flows.reset_token(email), email=email)

        entered, done = crowd.race([ready(api, eve), reset])

        assert done.status == 200
        owner = Account.objects.get(email=email).user_id
        assert not LinkedAccount.objects.filter(user=owner).exists()
        # A callback after the reset finds no link: the intruder gets an account of their own.
        if entered.data["user"]["id"] == str(owner):
            assert api.get("me", token=entered.data["access_token"]).status == 401


def test_login_beside_an_unlinking_leaves_no_session(crowd, api, rounds):
    """Callbacks of a linked identity, and the owner who unlinks it."""
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        prove(email)
        token = api.log_in(email)["access_token"]
        Browser(api).link(token, hers(number))
        callbacks = [ready(api, hers(number)) for _ in range(6)]

        *entered, done = crowd.race([*callbacks, unlinking(api, token)])

        assert done.status == 200
        assert set(tally(entered)) <= {200, "OAUTH_EMAIL_EXISTS"}
        assert not LinkedAccount.objects.filter(subject=hers(number).subject).exists()
        for answer in entered:
            if answer.status == 200:
                assert api.get("me", token=answer.data["access_token"]).status == 401
        assert api.get("me", token=token).status == 200


def test_challenge_beside_an_unlinking_is_no_way_in(crowd, api, post, monkeypatch):
    """The owner unlinks while the callback, which has found the link, asks for the second factor:
    the unlinking does not see the challenge of a transaction that has not ended."""
    person = Person(api, "ann0@example.com").sign_up().enrol()
    prove(person.email)
    Browser(api).link(person.token, hers(0))
    require_link, found, unlinked = sign_in._require_link, Event(), Event()

    def require_slowly(arriving, link):
        require_link(arriving, link)
        found.set()
        unlinked.wait(1)

    def unlink():
        assert found.wait(10)
        answer = unlinking(api, person.token)()
        unlinked.set()
        return answer

    with modules.plugged("second_factor", second_factor):
        callback = ready(api, hers(0))
        monkeypatch.setattr(sign_in, "_require_link", require_slowly)
        challenged, done = crowd.race([callback, unlink])

        assert done.status == 200
        temp_token = challenged.data["challenges"][0]["data"]["temp_token"]
        answer = api.post("2fa/verify-login", temp_token=temp_token, code=person.code(1))
    assert answer.error == (401, "INVALID_TOKEN")


def test_linking_by_address_beside_a_recovery_leaves_no_link(crowd, api, rounds, post):
    """An intruder's second identity arrives while the owner resets the password."""
    for number in rounds[:10]:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        prove(email)
        flows = Flows(api, post)
        reset = partial(flows.reset, flows.reset_token(email), email=email)

        entered, done = crowd.race([ready(api, hers(number)), reset])

        assert done.status == 200
        assert not LinkedAccount.objects.filter(subject=hers(number).subject).exists()
        if entered.status == 200:
            assert api.get("me", token=entered.data["access_token"]).status == 401


def test_expired_token_is_refreshed_once_for_all_callers(crowd, api, rounds, oauth):
    oauth(STORE_PROVIDER_TOKENS=True)
    for number in rounds[:5]:
        email = f"ann{number}@example.com"
        Browser(api).sign_in(hers(number))
        user = the_user(email)
        expire(user)
        office.refreshes.clear()

        tokens = crowd.race([partial(access_token, user, "acme")] * 20)

        assert len(office.refreshes) == 1
        assert Counter(token.reveal() for token in tokens).most_common()[0][1] == 20


def expire(user):
    [link] = links().of_user(user.pk)
    tokens = provider_tokens.unseal(link)
    past = timezone.now() - timedelta(hours=1)
    provider_tokens.store(
        link,
        ProviderTokens(
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            expires_at=past,
        ),
    )
