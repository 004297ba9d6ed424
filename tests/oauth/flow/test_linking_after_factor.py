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
from authservice.oauth import eviction, linking, sign_in, storage
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import Link
from authservice.oauth.tokens import access_token
from authservice.twofactor.models import Authenticator
from authservice.twofactor.verify_login import second_factor
from tests.oauth.browsing import ANN, profile
from tests.support.client import PASSWORD
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
    assert linking.LINKED in with_factor.post.kinds()
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


def of_another_identity():
    links = storage.links()
    links.add(Link(user_id=the_user().pk, provider="acme", subject="another-ann", **LINK))


BEGIN_AGAIN = (401, "INVALID_TOKEN")
TAKEN, FORBIDDEN = (409, "OAUTH_EMAIL_EXISTS"), (403, "OAUTH_ACCOUNT_LINKING_DISABLED")
LINKED = (409, "OAUTH_ALREADY_LINKED")
# What may happen between the challenge and its answer, and the refusal.
MEANWHILE = {
    "the identity was linked to another user": (of_another_user, LINKED),
    "another identity was linked": (of_another_identity, LINKED),
    "the identity was removed": (
        lambda: eviction.remove(
            Link(user_id=the_user().pk, provider="acme", subject="ann-at-acme", **LINK)
        ),
        BEGIN_AGAIN,
    ),
    "the account was recovered": (
        lambda: Account.objects.update(recovered_at=timezone.now()),
        TAKEN,
    ),
    "the user got rights": (lambda: Account.objects.update(is_super_admin=True), FORBIDDEN),
    "the address was replaced": (lambda: move("new@example.com"), BEGIN_AGAIN),
    "the logins with the provider were ended": (
        lambda: one_time.revoke_logins(the_user().pk, "oauth:acme"),
        BEGIN_AGAIN,
    ),
    "all access was removed": (
        lambda: takeover.evict(takeover.SECURED, lookup.get_person(the_user()), Client()),
        BEGIN_AGAIN,
    ),
}
NEW_SETTINGS = {
    "the provider was disabled": ({"acme": {"ENABLED": False}}, (400, "OAUTH_PROVIDER_DISABLED")),
    "the provider was removed": ({"other": {}}, (400, "OAUTH_PROVIDER_DISABLED")),
    "links by the address were turned off": ({"acme": {"LINK_BY_EMAIL": False}}, FORBIDDEN),
}


@pytest.fixture(params=[*MEANWHILE, *NEW_SETTINGS])
def meanwhile(request, providers):
    """`meanwhile()` lets it happen and returns the refusal."""

    def happen():
        if request.param in NEW_SETTINGS:
            entries, refusal = NEW_SETTINGS[request.param]
            providers(**entries)
            return refusal
        change, refusal = MEANWHILE[request.param]
        with clock.unit(), transaction.atomic():
            change()
        return refusal

    return happen


def test_link_by_the_address_is_refused_if_meanwhile(with_factor, meanwhile):
    temp_token = with_factor.challenged()
    user, refusal = the_user(), meanwhile()
    links, sessions, events = linked(), Session.objects.count(), []

    with listening(events.append):
        assert with_factor.answer(temp_token).error == refusal

    assert (linked(), Session.objects.count()) == (links, sessions)
    [failed] = [event for event in events if event.action.endswith(".failed")]
    if refusal == BEGIN_AGAIN:
        assert (failed.action, failed.metadata) == ("auth.2fa.failed", {"reason": "invalid_token"})
    else:
        details = {"reason": refusal[1].lower(), "method": "oauth:acme"}
        assert (failed.action, failed.metadata) == ("auth.login.failed", details)
    assert failed.user == user


def test_right_codes_that_are_refused_meanwhile_do_not_lock_the_owner_out(
    api, with_factor, meanwhile
):
    challenges = [with_factor.challenged() for _ in range(3)]
    [password] = api.post("login", email=ANN, password=PASSWORD).data["challenges"]
    refusal = meanwhile()
    code = with_factor.person.backup_codes[0]

    # A `temp_token` allows five attempts, an account ten.
    refused = [with_factor.answer(temp_token, code) for temp_token in challenges * 6]

    assert {answer.error for answer in refused} == {refusal}
    # The code is not used up either. The removal of all access has ended every challenge.
    if OneTimeToken.objects.filter(purpose="2fa", spent_at=None).exists():
        assert with_factor.answer(password["data"]["temp_token"], code).status == 200


def test_user_who_was_deactivated_before_the_code_can_log_in_again_later(with_factor):
    temp_token, user = with_factor.challenged(), the_user()
    type(user).objects.update(is_active=False)

    answers = [with_factor.answer(temp_token) for _ in range(11)]

    assert {answer.error for answer in answers} == {BEGIN_AGAIN}
    assert linked() == []
    type(user).objects.update(is_active=True)
    assert with_factor.answer(temp_token).status == 200


class TestSecondIdentity:
    """Another user of a provider that is linked already, with the same verified address."""

    @pytest.fixture(autouse=True)
    def _linked(self, with_factor):
        assert with_factor.answer(with_factor.challenged()).status == 200

    def test_is_refused_before_the_code_is_asked_for(self, browser):
        events = []

        with listening(events.append):
            answer = browser.sign_in(profile(subject="another-ann"))

        assert answer.error == LINKED
        assert linked() == [("acme", "ann-at-acme")]
        assert (events[-1].action, events[-1].user) == ("auth.login.failed", the_user())
        assert events[-1].metadata == {"reason": "oauth_already_linked", "method": "oauth:acme"}
        assert not OneTimeToken.objects.filter(purpose="2fa", spent_at=None).exists()

    def test_is_counted_as_a_question_about_the_address(self, browser, monkeypatch):
        counted = []
        monkeypatch.setattr(sign_in.throttling, "count", lambda name, _: counted.append(name))

        browser.sign_in(profile(subject="another-ann"))

        assert "is-available" in counted

    def test_does_not_lock_the_owner_out(self, api, browser, with_factor):
        for _ in range(11):
            assert browser.sign_in(profile(subject="another-ann")).error == LINKED

        [challenge] = api.post("login", email=ANN, password=PASSWORD).data["challenges"]
        assert with_factor.answer_again(challenge["data"]["temp_token"]).status == 200


def test_identity_replaces_that_of_an_intruder_at_the_first_proof(api, browser, configure):
    """The proof has removed the other identity, so the account has none of this provider."""
    api.sign_up()
    links = storage.links()
    links.add(Link(user_id=the_user().pk, provider="acme", subject="of-an-intruder", **LINK))
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    with modules.plugged("second_factor", second_factor):
        assert browser.sign_in().data["challenges"]

    assert linked() == []


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


def test_refused_link_leaves_no_factor_that_was_set_up_for_it(api, browser, configure):
    api.sign_up()
    configure(TWOFACTOR={"REQUIRED": "everybody"})
    with modules.plugged("second_factor", second_factor):
        [challenge] = browser.sign_in().data["challenges"]
        temp_token = challenge["data"]["temp_token"]
        made = api.post("2fa/setup-login", temp_token=temp_token).data
        of_another_identity()

        code = app_of(made["qr_url"]).now()
        answer = api.post("2fa/verify-login", temp_token=temp_token, code=code)

    assert answer.error == LINKED
    assert not Authenticator.objects.get().confirmed
