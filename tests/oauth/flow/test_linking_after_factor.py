"""A provider that verified the address is linked when the login is complete: somebody who has only
the mailbox, and not the second factor, leaves no link."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from authservice.core.credentials import one_time
from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.recovery import takeover
from authservice.core.users import lookup
from authservice.kernel import clock, modules
from authservice.kernel.client import Client
from authservice.oauth import eviction, messages, storage
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import Link
from authservice.oauth.tokens import access_token
from authservice.twofactor.verify_login import second_factor
from tests.oauth.browsing import ANN
from tests.support.flows import move, prove
from tests.support.people import make_user, the_user
from tests.support.slots import listening
from tests.twofactor.people import Person, app_of

pytestmark = pytest.mark.django_db


class WithFactor:
    """Ann, whose logins with the provider find her by her address and ask for a code."""

    def __init__(self, api, browser, post):
        self.person, self.browser, self.post = Person(api, ANN).sign_up().enrol(), browser, post
        prove()
        post.jobs.clear()

    def challenged(self):
        """The temp_token of a login with the provider."""
        [challenge] = self.browser.sign_in().data["challenges"]
        return challenge["data"]["temp_token"]

    def answer(self, temp_token, code=""):
        return self.person.verify_login(code or self.person.code(1), temp_token)

    def answer_again(self, temp_token):
        return self.answer(temp_token, self.person.backup_codes.pop())


@pytest.fixture
def with_factor(api, browser, post):
    with modules.plugged("second_factor", second_factor):
        yield WithFactor(api, browser, post)


def linked():
    return list(LinkedAccount.objects.values_list("provider", "subject"))


def test_link_by_the_address_is_stored_when_the_second_factor_was_passed(with_factor, oauth):
    oauth(STORE_PROVIDER_TOKENS=True)
    events = []
    with listening(events.append):
        temp_token = with_factor.challenged()
        assert (linked(), with_factor.post.kinds()) == ([], [])
        assert "auth.oauth.linked" not in [event.action for event in events]
        wrong = with_factor.answer(temp_token, with_factor.person.wrong_code())
        assert (wrong.status, linked()) == (401, [])

        answer = with_factor.answer(temp_token)

    assert answer.status == 200
    assert linked() == [("acme", "ann-at-acme")]
    assert [event.action for event in events].count("auth.oauth.linked") == 1
    assert messages.LINKED in with_factor.post.kinds()
    row = LinkedAccount.objects.get()
    assert row.added_at == Session.objects.latest("created_at").created_at
    assert access_token(the_user(), "acme")
    # The next login finds the link, and is one with it.
    assert with_factor.answer_again(with_factor.challenged()).status == 200
    assert linked() == [("acme", "ann-at-acme")]


def test_abandoned_challenge_leaves_no_link(clock, with_factor):
    temp_token = with_factor.challenged()
    clock.forward(minutes=6)

    assert with_factor.answer(temp_token).error == (401, "INVALID_TOKEN")
    clock.forward(days=1)
    call_command("authservice_cleanup", stdout=StringIO())

    assert linked() == []
    assert not OneTimeToken.objects.filter(purpose="2fa").exists()


def of_another_user():
    bob = make_user("bob@example.com")
    links = storage.links()
    links.add(Link(user_id=bob.pk, provider="acme", subject="ann-at-acme", **LINK))


LINK = {"email": "", "at_signup": True, "added_at": timezone.now()}
# What may happen between the challenge and its answer.
MEANWHILE = {
    "the identity was linked to another user": of_another_user,
    "the identity was removed": lambda: eviction.remove(
        Link(user_id=the_user().pk, provider="acme", subject="ann-at-acme", **LINK)
    ),
    "the account was recovered": lambda: Account.objects.update(recovered_at=timezone.now()),
    "the user got rights": lambda: Account.objects.update(is_super_admin=True),
    "the address was replaced": lambda: move("new@example.com"),
    "the logins with the provider were ended": lambda: one_time.revoke_logins(
        the_user().pk, "oauth:acme"
    ),
    "all access was removed": lambda: takeover.evict(
        takeover.SECURED, lookup.get_person(the_user()), Client()
    ),
}


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_link_by_the_address_is_refused_if_meanwhile(with_factor, meanwhile):
    temp_token = with_factor.challenged()
    user, sessions = the_user().pk, Session.objects.count()
    with clock.unit(), transaction.atomic():
        MEANWHILE[meanwhile]()

    assert with_factor.answer(temp_token).status == 401

    assert not LinkedAccount.objects.filter(user=user).exists()
    assert Session.objects.count() == sessions


def test_two_challenges_of_one_identity_store_one_link(with_factor):
    first, second = with_factor.challenged(), with_factor.challenged()

    assert with_factor.answer(first).status == 200
    assert with_factor.answer_again(second).status == 200

    assert linked() == [("acme", "ann-at-acme")]


def test_link_by_the_address_is_stored_when_a_required_factor_was_set_up(api, browser, configure):
    """The first proof of the address has removed the factors, so another one is set up."""
    api.sign_up()
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    with modules.plugged("second_factor", second_factor):
        [challenge] = browser.sign_in().data["challenges"]
        temp_token = challenge["data"]["temp_token"]
        made = api.post("2fa/setup-login", temp_token=temp_token).data
        assert linked() == []

        code = app_of(made["qr_url"]).now()
        assert api.post("2fa/verify-login", temp_token=temp_token, code=code).status == 200

    assert linked() == [("acme", "ann-at-acme")]
