"""A user of a provider whose link was removed does not come back: every removal, every way in."""

from urllib.parse import urlencode

import pytest
from django.db import transaction

from authservice.core.login import host_hooks
from authservice.core.models import Account, Session
from authservice.core.recovery import takeover
from authservice.core.users import lookup
from authservice.kernel import databases, modules
from authservice.kernel.client import Client
from authservice.oauth import linking
from authservice.oauth.models import LinkedAccount, RemovedLink
from authservice.twofactor.verify_login import second_factor
from tests.oauth.browsing import ANN, FORM, profile
from tests.oauth.in_process import office
from tests.support.flows import prove
from tests.support.people import make_user, the_user
from tests.support.slots import listening
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

URI = "com.example.app:/signed-in"
VERIFIER = "v" * 43
REFUSED = (409, "OAUTH_EMAIL_EXISTS")
# The address is Ann's, and the provider says that it verified it.
EVE = profile("eve-at-acme")


@pytest.fixture(autouse=True)
def _providers(clock, providers):
    """The clock does not run, so that a test can move it."""
    native = {"NATIVE_REDIRECT_URIS": [URI]}
    providers(acme=native, form={"FORM_POST": True}, other={})


# The ways in: each logs Eve in with a new code or ID token.


def callback(browser, who, provider="acme"):
    return browser.sign_in(who, provider)


def form(browser, who, provider="acme"):
    return browser.post_back(office.approve(browser.start(provider), who))


def id_token(browser, who, provider="acme"):
    nonce = browser.api.post(f"oauth/{provider}/nonce").data["nonce"]
    token = office.id_token(who, nonce)
    return browser.api.post(f"oauth/{provider}/token", id_token=token, nonce=nonce)


def native_code(browser, who, provider="acme"):
    code = office.native_code(who, VERIFIER, URI)
    body = {"code": code, "code_verifier": VERIFIER, "redirect_uri": URI}
    return browser.api.post(f"oauth/{provider}/token", **body)


WAYS_IN = [
    pytest.param(callback, "acme", id="callback"),
    pytest.param(form, "form", id="form post"),
    pytest.param(id_token, "acme", id="ID token"),
    pytest.param(native_code, "acme", id="native code"),
]


# The removals: each removes the link of Eve from the account of Ann.


def by_owner(api, flows, post, provider):
    token = api.log_in()["access_token"]
    assert api.request("DELETE", f"oauth/{provider}", token=token).status == 200


def by_staff(api, flows, post, provider):
    person = lookup.get_person(the_user())
    assert linking.unlink_by_staff(person, provider, by=None, client=Client())


def by_not_me(api, flows, post, provider):
    secure = {"token": post.token(linking.LINKED)}
    assert api.request("POST", "account/secure", secure).status == 200


def by_reset(api, flows, post, provider):
    assert flows.reset(flows.reset_token()).status == 200


def by_denied_signup(api, flows, post, provider):
    Account.objects.update(proven_email_key="", verified_email_key="")
    denial = {"token": flows.email_token(), "email": ANN, "decision": "deny"}
    answer = api.request("POST", "verify-email", urlencode(denial), content_type=FORM)
    assert answer.status < 400


def by_kind(kind):
    """A kind of recovery as the table of core has it."""

    def evict(api, flows, post, provider):
        with transaction.atomic(using=databases.primary()):
            takeover.evict(kind, lookup.get_person(the_user()), Client())

    return pytest.param(evict, id=kind)


_REMOVING = {takeover._unproven_access, takeover._recent_access}
REMOVALS = [
    pytest.param(by_owner, id="owner"),
    pytest.param(by_staff, id="staff"),
    pytest.param(by_not_me, id="not me"),
    pytest.param(by_reset, id="reset"),
    pytest.param(by_denied_signup, id="denied sign-up"),
    *(by_kind(kind) for kind, steps in takeover.REMOVES.items() if _REMOVING & set(steps)),
]


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize(("enter", "provider"), WAYS_IN)
def test_removed_identity_is_never_linked_by_address_again(
    api, browser, flows, post, clock, ann, remove, enter, provider
):
    intruder = enter(browser, EVE, provider).data["access_token"]
    assert api.get("me", token=intruder).data["id"] == ann["user"]["id"]

    remove(api, flows, post, provider)

    assert api.get("me", token=intruder).error == (401, "INVALID_TOKEN")
    for _ in range(2):
        assert enter(browser, EVE, provider).error == REFUSED
        clock.forward(days=365)
    assert not LinkedAccount.objects.exists()


def test_every_removal_of_links_leaves_a_record(api, browser, flows, post, ann):
    browser.sign_in(EVE)
    by_reset(api, flows, post, "acme")

    [row] = RemovedLink.objects.all()
    assert (row.user_id, row.provider) == (the_user().pk, "acme")
    assert "eve-at-acme" not in str(RemovedLink.objects.values())


def test_owner_links_a_removed_identity_while_signed_in(api, browser, flows, post, ann):
    browser.sign_in(EVE)
    by_owner(api, flows, post, "acme")

    browser.link(api.log_in()["access_token"], EVE)

    assert browser.sign_in(EVE).data["user"]["id"] == ann["user"]["id"]
    assert not RemovedLink.objects.exists()
    by_owner(api, flows, post, "acme")
    assert browser.sign_in(EVE).error == REFUSED


def test_removed_identity_is_linked_to_another_account(api, browser, flows, post, ann):
    browser.sign_in(EVE)
    by_owner(api, flows, post, "acme")
    api.sign_up("eve@example.com")
    prove("eve@example.com")

    answer = browser.sign_in(profile("eve-at-acme", "eve@example.com"))

    assert answer.data["user"]["email"] == "eve@example.com"


@pytest.mark.parametrize("fallbacks", [True, False])
def test_removed_identity_stays_removed_when_the_secret_key_changes(
    api, browser, flows, post, ann, settings, fallbacks
):
    """A digest that no key can compare any more refuses, so a retired key opens no account."""
    browser.sign_in(EVE)
    by_owner(api, flows, post, "acme")

    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if fallbacks else []
    settings.SECRET_KEY = "another secret key of at least fifty characters, as Django wants"

    assert browser.sign_in(EVE).error == REFUSED
    again = browser.sign_in(profile("ann-at-acme"))
    assert again.status == (200 if fallbacks else 409)


@pytest.mark.parametrize("recover", [by_reset, by_not_me])
@pytest.mark.parametrize("provider", ["acme", "other"])
def test_no_identity_is_linked_by_address_for_72_hours_after_a_recovery(
    api, browser, flows, post, clock, ann, recover, provider
):
    browser.sign_in(EVE)
    recover(api, flows, post, "acme")
    another = profile("eve-again")

    clock.forward(hours=71)
    assert browser.sign_in(another, provider).error == REFUSED
    clock.forward(hours=2)
    assert browser.sign_in(another, provider).data["user"]["id"] == ann["user"]["id"]


def test_first_password_of_an_account_is_no_recovery(browser, flows):
    """Staff created the account, so nobody else could have entered it."""
    make_user(ANN, password=None)

    assert flows.reset(flows.reset_token()).status == 200

    assert browser.sign_in().data["is_new_user"] is False


def test_linked_identity_logs_in_after_a_recovery(api, browser, flows, post, clock, ann):
    browser.sign_in()
    clock.forward(days=30)
    by_reset(api, flows, post, "acme")

    assert browser.sign_in().data["user"]["id"] == ann["user"]["id"]


def test_owner_is_notified_of_refused_logins_once_a_day(
    api, browser, flows, post, clock, ann, providers
):
    providers(acme={"DISPLAY_NAME": "Acme Ltd"})
    browser.sign_in(EVE)
    by_owner(api, flows, post, "acme")
    post.jobs.clear()

    for _ in range(3):
        browser.sign_in(EVE)
    assert post.kinds() == [linking.REFUSED]
    outgoing = post.outgoing(linking.REFUSED)
    assert (outgoing.to, outgoing.context["provider"]) == (ANN, f"Acme Ltd ({ANN})")
    clock.forward(days=1, seconds=1)
    browser.sign_in(EVE)
    assert post.kinds() == [linking.REFUSED] * 2


def test_address_that_was_not_proven_gets_no_notice(api, browser, flows, post, ann):
    browser.sign_in(EVE)
    by_denied_signup(api, flows, post, "acme")
    post.jobs.clear()

    browser.sign_in(EVE)

    assert post.kinds() == []


def test_refusal_is_recorded(api, browser, flows, post, ann):
    browser.sign_in(EVE)
    by_owner(api, flows, post, "acme")
    events = []

    with listening(events.append):
        browser.sign_in(EVE)

    [event] = [event for event in events if event.action == "auth.login.failed"]
    assert (event.target or event.user) == the_user()
    assert event.metadata == {"reason": "oauth_email_exists", "method": "oauth:acme"}


def test_unlinking_keeps_sessions_that_began_otherwise(api, browser, ann, post, flows):
    password = api.log_in()["access_token"]
    other = browser.sign_in(profile("ann-at-other"), "other").data["access_token"]
    acme = browser.sign_in(EVE).data["access_token"]

    by_owner(api, flows, post, "acme")

    alive = [api.get("me", token=token).status for token in (password, other, acme)]
    assert alive == [200, 200, 401]


def test_unlinking_keeps_the_session_that_asks(api, browser, ann):
    """As a changed password does; every other session of the provider ends."""
    acme, second = (browser.sign_in().data["access_token"] for _ in range(2))

    assert api.request("DELETE", "oauth/acme", token=acme).status == 200

    assert api.get("me", token=acme).status == 200
    assert api.get("me", token=second).status == 401


def test_refused_unlinking_ends_no_session(api, browser):
    first, second = (browser.sign_in().data["access_token"] for _ in range(2))

    assert api.request("DELETE", "oauth/acme", token=first).code == "OAUTH_LAST_LOGIN_METHOD"

    assert api.get("me", token=second).status == 200
    assert not RemovedLink.objects.exists()


def test_session_of_a_refreshed_token_ends_too(api, browser, flows, post, ann):
    tokens = browser.sign_in(EVE).data
    renewed = api.post("refresh", refresh_token=tokens["refresh_token"]).data
    by_owner(api, flows, post, "acme")

    assert api.get("me", token=renewed["access_token"]).status == 401
    assert api.post("refresh", refresh_token=renewed["refresh_token"]).status == 401


def test_unlinking_ends_a_login_that_waits_for_the_second_factor(api, browser, flows, post):
    person = Person(api, ANN).sign_up().enrol()
    prove()
    browser.link(person.token, EVE)
    with modules.plugged("second_factor", second_factor):
        [challenge] = browser.sign_in(EVE).data["challenges"]
        assert api.request("DELETE", "oauth/acme", token=person.token).status == 200
        temp_token = challenge["data"]["temp_token"]

        answer = api.post("2fa/verify-login", temp_token=temp_token, code=person.code(1))

    assert answer.error == (401, "INVALID_TOKEN")


def test_session_row_knows_how_it_began(api, browser, ann):
    api.log_in()
    browser.sign_in()

    methods = Session.objects.order_by("created_at", "pk").values_list("method", flat=True)
    assert sorted(methods) == ["oauth:acme", "password", "signup"]


@pytest.mark.parametrize("proven", [True, False])
def test_unlinking_between_the_reads_of_a_login_leaves_the_intruder_outside(
    api, browser, other_browser, flows, post, ann, monkeypatch, proven
):
    """The callback has found link and user; the owner unlinks before the session is stored, or
    before the login proves the address."""
    browser.sign_in(EVE)
    if not proven:
        Account.objects.update(proven_email_key="", verified_email_key="")
    owner = api.log_in()["access_token"]
    prepare = host_hooks.prepare

    def prepare_late(*args, **options):
        monkeypatch.undo()
        assert api.request("DELETE", "oauth/acme", token=owner).status == 200
        return prepare(*args, **options)

    monkeypatch.setattr(host_hooks, "prepare", prepare_late)
    answer = other_browser.sign_in(EVE)

    assert answer.error == REFUSED
    assert not Session.objects.filter(method="oauth:acme", ended_at=None).exists()
