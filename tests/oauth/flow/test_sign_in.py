"""Log in with a provider: a new user, a returning one, and one with the same address."""

from io import StringIO

import pytest
from django.core.management import call_command

from authservice.core.login import host_hooks
from authservice.core.messages import kinds
from authservice.core.models import Account, Session
from authservice.kernel.hooks import Refused
from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import ANN, FRONT, fragment_of, profile
from tests.support.client import PASSWORD
from tests.support.flows import account, move, prove
from tests.support.people import deactivate, has, make_user, the_user, users
from tests.support.slots import listening

pytestmark = pytest.mark.django_db


def refuse(attempt):
    raise Refused("NOT_APPROVED", "Waiting for approval.")


def test_new_user_gets_an_account_and_tokens(browser, api):
    who = profile(
        name="Ann Ash", first_name="Ann", last_name="Ash", avatar="https://acme.example/a.png"
    )

    answer = browser.sign_in(who)

    assert answer.status == 200
    assert (answer.data["is_new_user"], answer.data["provider"]) == (True, "acme")
    assert (answer.data["token_type"], answer.data["expires_in"]) == ("Bearer", 900)
    user = api.get("me", token=answer.data["access_token"]).data
    shown = {name: user[name] for name in ("email", "name", "first_name", "last_name", "avatar")}
    assert shown == {
        "email": ANN,
        "name": "Ann Ash",
        "first_name": "Ann",
        "last_name": "Ash",
        "avatar": "https://acme.example/a.png",
    }
    assert user["email_verified"] is True
    assert not the_user().has_usable_password()


def test_refresh_token_of_a_login_with_a_provider_works(browser, api):
    answer = browser.sign_in()

    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_returning_user_keeps_the_account_whatever_the_address(browser):
    first = browser.sign_in()

    again = browser.sign_in(profile(email="moved@example.org"))

    assert again.data["is_new_user"] is False
    assert again.data["user"]["id"] == first.data["user"]["id"]
    assert again.data["user"]["email"] == ANN
    assert users() == 1


def test_returning_user_without_an_address_is_logged_in(browser):
    browser.sign_in()

    assert browser.sign_in(profile(email="", email_verified=False)).status == 200


def test_subjects_that_differ_in_case_are_two_users(browser):
    browser.sign_in(profile("abc"))

    browser.sign_in(profile("ABC", email="other@example.com"))

    assert users() == 2


def test_same_subject_of_another_provider_is_another_user(browser, providers):
    providers(acme={}, other={})
    browser.sign_in(profile("1"))

    browser.sign_in(profile("1", email="other@example.com"), "other")

    assert users() == 2


def test_verified_address_links_the_account_that_proved_it(browser, api, ann):
    answer = browser.sign_in()

    assert answer.data["is_new_user"] is False
    assert answer.data["user"]["id"] == ann["user"]["id"]
    assert LinkedAccount.objects.get().at_signup is False
    assert api.get("me", token=ann["access_token"]).status == 200
    api.log_in()


def test_owner_is_notified_by_mail_of_a_linked_provider(browser, post, ann):
    browser.sign_in()

    assert post.kinds().count("provider-linked") == 1
    outgoing = post.outgoing("provider-linked")
    assert (outgoing.to, outgoing.context["provider"]) == (ANN, f"acme ({ANN})")


def test_new_user_is_sent_no_notice_of_the_link(browser, post):
    browser.sign_in()

    assert "provider-linked" not in post.kinds()


def test_address_in_another_spelling_links_the_same_account(browser, ann):
    answer = browser.sign_in(profile(email="ANN@Example.com"))

    assert answer.data["user"]["id"] == ann["user"]["id"]


def test_unverified_address_links_no_account(browser, ann):
    answer = browser.sign_in(profile(email_verified=False))

    assert answer.error == (409, "OAUTH_EMAIL_EXISTS")
    assert not LinkedAccount.objects.exists()


def test_untrusted_provider_links_no_account(browser, oauth, ann):
    oauth(TRUST_EMAIL_VERIFICATION=False)

    assert browser.sign_in().error == (409, "OAUTH_EMAIL_EXISTS")


def test_linking_turned_off_links_no_account(browser, oauth, ann):
    oauth(ALLOW_ACCOUNT_LINKING=False)

    assert browser.sign_in().error == (403, "OAUTH_ACCOUNT_LINKING_DISABLED")
    assert not LinkedAccount.objects.exists()


def test_second_user_of_a_provider_is_not_linked_to_the_same_account(browser, ann):
    """An address that the provider assigns to somebody else gives no access."""
    browser.sign_in()

    assert browser.sign_in(profile("her-successor")).error == (409, "OAUTH_ALREADY_LINKED")
    assert LinkedAccount.objects.count() == 1


@pytest.mark.parametrize(
    "keys", [{"OAUTH": {"ALLOW_SIGNUP": False}}, {"CORE": {"ALLOW_SIGNUP": False}}], ids=str
)
def test_sign_up_turned_off_creates_no_account(browser, configure, oauth, keys):
    oauth(**keys.get("OAUTH", {}))
    configure(CORE=keys.get("CORE", {}))

    assert browser.sign_in().error == (403, "OAUTH_SIGNUP_DISABLED")
    assert users() == 0


@pytest.mark.parametrize("email", ["", "no address", '"quoted"@example.com', "a@[127.0.0.1]"])
def test_new_user_without_a_usable_address_is_refused(browser, email):
    assert browser.sign_in(profile(email=email)).error == (400, "OAUTH_EMAIL_REQUIRED")
    assert users() == 0


def test_unverified_address_of_a_new_user_is_unverified_here(browser, api, post):
    answer = browser.sign_in(profile(email_verified=False))

    assert answer.data["user"]["email_verified"] is False
    assert kinds.VERIFY_EMAIL in post.kinds()


def test_unverified_address_reveals_no_account_if_sign_up_hides_them(browser, configure, ann):
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})

    answers = [
        browser.sign_in(profile("one", email_verified=False)),
        browser.sign_in(profile("two", email="free@example.com", email_verified=False)),
    ]

    assert [answer.error for answer in answers] == [(400, "OAUTH_EMAIL_REQUIRED")] * 2


def test_inactive_user_is_refused(browser):
    browser.sign_in()
    deactivate()

    assert browser.sign_in().error == (403, "USER_NOT_ACTIVE")


def test_provider_is_not_linked_to_an_inactive_account(browser, ann):
    deactivate()

    assert browser.sign_in().error == (403, "USER_NOT_ACTIVE")
    assert not LinkedAccount.objects.exists()


def test_new_user_who_must_verify_the_address_gets_no_tokens(browser, configure, post):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    answer = browser.sign_in(profile(email_verified=False))

    assert answer.error == (403, "EMAIL_NOT_VERIFIED")
    assert kinds.VERIFY_EMAIL in post.kinds()
    assert (users(), Session.objects.count()) == (1, 0)


def test_new_user_with_a_verified_address_needs_no_verification(browser, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert browser.sign_in().status == 200


def test_address_that_the_provider_verifies_later_is_verified_here(browser, api):
    first = browser.sign_in(profile(email_verified=False))

    answer = browser.sign_in()

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=first.data["access_token"]).status == 200


def test_texts_that_cannot_be_stored_are_left_out(browser):
    who = profile(name="A\x00nn\n" + "n" * 500, avatar="javascript:alert(1)", first_name="F" * 500)

    user = browser.sign_in(who).data["user"]

    assert user["name"].startswith("Ann")
    assert (len(user["name"]), len(user["first_name"]), user["avatar"]) == (253, 150, "")


@pytest.mark.parametrize("subject", ["a" * 256, "a\x00b"])
def test_unacceptable_subject_is_refused(browser, subject):
    assert browser.sign_in(profile(subject)).error == (400, "OAUTH_USER_INFO_FAILED")


def test_tokens_are_redirected_to_the_front_end(browser, oauth, api):
    oauth(DEFAULT_REDIRECT_URL=FRONT)

    answer = browser.sign_in()

    url, values = fragment_of(answer)
    assert (url, set(values)) == (FRONT, {"access_token", "refresh_token"})
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert api.get("me", token=values["access_token"]).data["email"] == ANN


def test_error_is_redirected_to_the_front_end_in_the_query(browser, oauth, ann):
    oauth(ERROR_REDIRECT_URL=f"{FRONT}?from=us", ALLOW_ACCOUNT_LINKING=False)

    target = browser.sign_in().headers["Location"]

    assert target.startswith(f"{FRONT}?from=us&error=OAUTH_ACCOUNT_LINKING_DISABLED&")
    assert "error_description=An+account+with+this" in target


def test_user_of_a_provider_cannot_log_in_with_a_password(browser, api):
    browser.sign_in()

    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"


def test_provider_cannot_make_anybody_a_super_admin(browser):
    browser.sign_in(profile(name="root"))

    assert Account.objects.get().is_super_admin is False
    assert getattr(the_user(), "is_superuser", False) is False


def test_new_accounts_by_a_provider_are_limited_by_network(browser, configure):
    configure(THROTTLE={"RATES": {"signup": "2/d"}}, TRUSTED_PROXIES=1)
    there, elsewhere = ({"X-Forwarded-For": address} for address in ("192.0.2.1", "198.51.100.1"))

    def sign_up(number, headers):
        return browser.sign_in(profile(f"{number}", f"{number}@example.com"), **headers)

    answers = [sign_up(number, there) for number in range(3)]

    assert [answer.status for answer in answers] == [200, 200, 429]
    assert answers[2].code == "TOO_MANY_REQUESTS"
    assert sign_up(0, there).status == 200  # a returning user
    assert sign_up(2, elsewhere).status == 200
    assert users() == 3


@pytest.mark.parametrize("proven", [True, False])
def test_proof_stays_without_a_link_if_the_login_is_refused(browser, api, configure, proven):
    api.sign_up()
    if proven:
        prove()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    events = []
    with listening(events.append):
        answers = [browser.sign_in() for _ in range(2)]

    assert [answer.error for answer in answers] == [(403, "PHONE_NOT_VERIFIED")] * 2
    assert not LinkedAccount.objects.exists()
    assert account().proven_email_key == account().email_key
    actions = [event.action for event in events]
    assert actions.count("auth.oauth.linked") == 0
    assert actions.count("auth.login.failed") == 2
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": False})
    assert browser.sign_in().status == 200
    assert LinkedAccount.objects.get().subject == "ann-at-acme"


def test_account_of_a_refused_new_user_stays(browser, configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert browser.sign_in().error == (403, "PHONE_NOT_VERIFIED")

    assert (users(), LinkedAccount.objects.count()) == (1, 1)


def test_refusal_of_a_new_user_by_a_hook_is_recorded_once_and_keeps_the_account(browser, configure):
    configure(CORE={"LOGIN_HOOK": f"{__name__}.refuse"})
    events = []

    with listening(events.append):
        answer = browser.sign_in()

    assert answer.error == (403, "NOT_APPROVED")
    assert (users(), LinkedAccount.objects.count()) == (1, 1)
    assert [event.action for event in events].count("auth.login.failed") == 1


def test_user_suspended_since_the_read_is_not_linked_and_proves_nothing(browser, api, monkeypatch):
    """The callback has found the account by its address; staff suspend it before its lock."""
    api.sign_up()
    prepare = host_hooks.prepare

    def prepare_late(*args, **options):
        monkeypatch.undo()
        deactivate()
        return prepare(*args, **options)

    monkeypatch.setattr(host_hooks, "prepare", prepare_late)
    answer = browser.sign_in()

    assert answer.error == (403, "USER_NOT_ACTIVE")
    assert not LinkedAccount.objects.exists()
    assert not Session.objects.filter(method="oauth:acme").exists()
    assert (account().verified_email_key, account().proven_email_key) == ("", "")


def test_address_that_changed_since_the_read_is_not_linked(browser, ann, monkeypatch):
    prepare = host_hooks.prepare

    def prepare_late(*args, **options):
        monkeypatch.undo()
        move("moved@example.com")
        return prepare(*args, **options)

    monkeypatch.setattr(host_hooks, "prepare", prepare_late)
    answer = browser.sign_in()

    assert answer.data["is_new_user"] is True
    assert LinkedAccount.objects.get().user_id != account("moved@example.com").user_id


@pytest.mark.skipif(not has("username"), reason="its users log in by the address, so one is found")
def test_address_that_two_users_share_is_refused_and_counted_once(browser):
    """The host project has two spellings of one address, so neither user is found by it."""
    make_user("Ann@example.com", username="ann-1")
    make_user("ann@example.com", username="ann-2")
    call_command("authservice_sync_accounts", stdout=StringIO(), stderr=StringIO())

    answers = [browser.sign_in().error for _ in range(9)]

    assert answers == [(409, "OAUTH_EMAIL_EXISTS")] * 9
