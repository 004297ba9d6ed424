"""The link "this was not me" undoes what a thief changed, even after later changes."""

from urllib.parse import urlencode

import pytest
from django.utils import translation

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken, Session
from authservice.twofactor.models import Authenticator
from tests.core.recovery.thief import STOLEN, THIEFS_PHONE, Thief, log_in
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account, move, prove
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html,application/xhtml+xml"}
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def owner(api, flows, post):
    """The owner's address and number are proven; a thief has one of her access tokens."""
    token = api.sign_up(phone_number=PHONE)["access_token"]
    prove(phone=PHONE)
    post.jobs.clear()
    return Thief(flows, token)


thief = owner


@pytest.fixture
def link(post):
    """The token in the newest e-mail of a kind."""
    return lambda kind=kinds.PHONE_CHANGED: post.token(kind)


@pytest.fixture
def secure(api):
    def secure(token, **options):
        return api.request("POST", "account/secure", {"token": token}, **options)

    return secure


def change_password(thief, new=STOLEN):
    body = {"old_password": PASSWORD, "new_password": new}
    return thief.api.request("PUT", "change-password", body, token=thief.token)


def test_link_restores_the_number_and_ends_all_access(thief, link, secure):
    thief.plant_number(password=PASSWORD)
    token = link()

    assert secure(token).data["status"] == "success"

    assert account().phone_number == PHONE
    assert account().verified_phone_key == account().phone_key
    assert thief.api.get("me", token=thief.token).error == (401, "INVALID_TOKEN")
    assert thief.api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"
    assert not Session.objects.filter(ended_at=None).exists()
    assert not thief.reset_by_number()


def test_owner_sets_a_new_password_by_the_email_that_follows(thief, link, secure, flows, post):
    thief.plant_number()
    secure(link())

    assert flows.reset(post.token(kinds.ACCOUNT_SECURED)).status == 200

    assert log_in(flows).data["user"]["phone_number"] == PHONE


def test_link_removes_the_factor_that_the_thief_enabled(thief, link, secure, flows, post):
    Person(flows.api, token=thief.token, user_id=str(the_user().pk)).enrol()

    secure(link("two-factor-enabled"))
    flows.reset(post.token(kinds.ACCOUNT_SECURED))

    assert not Authenticator.objects.exists()
    assert log_in(flows).data["access_token"]


def test_link_keeps_a_factor_from_before_the_change(thief, link, secure, flows, clock):
    tokens = flows.api.log_in()
    Person(flows.api, token=tokens["access_token"], user_id=str(the_user().pk)).enrol()
    clock.forward(minutes=1)
    Thief(flows, tokens["access_token"]).put(phone=THIEFS_PHONE)

    secure(link())

    assert Authenticator.objects.get().confirmed


def test_link_undoes_a_password_that_the_thief_changed(thief, link, secure):
    assert change_password(thief).status == 200

    secure(link(kinds.PASSWORD_CHANGED))

    assert thief.api.post("login", email=ANN, password=STOLEN).code == "INVALID_CREDENTIALS"


def test_link_of_the_first_change_works_after_further_changes(thief, link, secure, flows):
    thief.plant_number("+4930123499")
    first = link()
    assert change_password(thief).status == 200
    Person(flows.api, token=thief.token, user_id=str(the_user().pk)).enrol()
    thief.put(phone=THIEFS_PHONE)

    assert secure(first).status == 200

    assert account().phone_number == PHONE
    assert not Authenticator.objects.exists()
    assert not the_user().has_usable_password()


def test_link_makes_the_links_of_later_changes_do_nothing(thief, link, secure):
    thief.put(phone="+4930123499")
    first = link()
    thief.put(phone=THIEFS_PHONE)
    second = link()

    secure(first)
    answer = secure(second)

    assert answer.status == 200
    assert account().phone_number == PHONE


def test_link_of_a_later_change_ends_resets_by_the_number_of_the_thief(thief, link, secure):
    thief.plant_number(password=PASSWORD)
    change_password(thief)

    secure(link(kinds.PASSWORD_CHANGED))

    assert account().phone_number == THIEFS_PHONE
    assert not thief.reset_by_number()


def test_link_restores_an_address_that_was_changed_later(thief, link, secure, post):
    thief.put(phone=THIEFS_PHONE)
    token = link()
    move("eve@example.com")

    secure(token)

    assert account(ANN).proven_email_key == account(ANN).email_key
    assert post.jobs[-1].kind == kinds.ACCOUNT_SECURED
    assert post.jobs[-1].target == ANN


def test_reset_does_not_end_the_link(thief, link, secure, flows):
    change_password(thief)
    token = link(kinds.PASSWORD_CHANGED)
    flows.reset(flows.reset_token())

    assert secure(token).status == 200
    assert thief.api.post("login", email=ANN, password=NEW).code == "INVALID_CREDENTIALS"


@pytest.mark.parametrize(("hours", "error"), [(71, (200, "")), (73, (400, "TOKEN_EXPIRED"))])
def test_link_is_valid_for_72_hours(thief, link, secure, clock, hours, error):
    thief.token = thief.api.log_in()["access_token"]
    thief.put(phone=THIEFS_PHONE)
    token = link()
    clock.forward(hours=hours)

    assert secure(token).error == error


def test_link_used_twice_acts_once(thief, link, secure, flows, post):
    thief.put(phone=THIEFS_PHONE)
    token = link()
    secure(token)
    flows.reset(post.token(kinds.ACCOUNT_SECURED))

    assert secure(token).status == 200
    assert log_in(flows).status == 200


def test_unknown_link_is_refused(secure, thief):
    assert secure("A" * 43).error == (400, "INVALID_TOKEN")


def test_link_ends_device_tokens_and_unused_codes(thief, link, secure, flows):
    code = flows.reset_code()
    thief.put(phone=THIEFS_PHONE)
    version = account().device_version

    secure(link())

    assert account().device_version > version
    assert flows.reset_by_code(code).error == (400, "INVALID_VERIFICATION_CODE")


def open_link(api, token, method="GET", **headers):
    query = urlencode({"token": token})
    return api.request(method, f"account/secure?{query}", headers=headers)


def test_opening_the_link_changes_nothing(thief, link, api):
    thief.put(phone=THIEFS_PHONE)
    token = link()

    assert open_link(api, token).data == {"status": "confirm"}
    page = open_link(api, token, **HTML).response
    open_link(api, token, "HEAD", **HTML)
    open_link(api, token, **HTML, **{"Sec-Purpose": "prefetch"})

    assert page["Content-Type"].startswith("text/html")
    assert token in page.content.decode()
    assert account().phone_number == THIEFS_PHONE


def test_page_of_an_invalid_link_says_so_at_once(clock, thief, link, api):
    thief.put(phone=THIEFS_PHONE)
    token = link()
    opened = [open_link(api, "A" * 43, **HTML), open_link(api, token, **HTML)]
    clock.forward(hours=73)
    opened.append(open_link(api, token, **HTML))
    posted = submit(api, token, **{"Sec-Fetch-Site": "cross-site"})

    pages = [answer.response.content.decode() for answer in opened] + [posted.content.decode()]
    assert ["<form" in page for page in pages] == [False, True, False, False]
    assert account().phone_number == THIEFS_PHONE


def submit(api, token, **headers):
    body = urlencode({"token": token})
    options = {"content_type": FORM, "headers": {**HTML, **headers}}
    return api.request("POST", "account/secure", body, **options).response


def test_form_of_the_page_secures_the_account(thief, link, api):
    thief.put(phone=THIEFS_PHONE)

    page = submit(api, link(), **{"Sec-Fetch-Site": "same-origin"})

    assert page.status_code == 200
    assert account().phone_number == PHONE


def test_form_of_another_site_is_refused(thief, link, api):
    thief.put(phone=THIEFS_PHONE)

    page = submit(api, link(), **{"Sec-Fetch-Site": "cross-site"})

    assert "<form" in page.content.decode()
    assert account().phone_number == THIEFS_PHONE


def test_form_with_an_invalid_link_returns_a_page(api, thief):
    page = submit(api, "A" * 43)

    assert page["Content-Type"].startswith("text/html")
    assert "not valid" in page.content.decode()


def test_link_is_stored_nowhere(thief, link, post):
    thief.put(phone=THIEFS_PHONE)
    assert OneTimeToken.objects.get(purpose="secure-account").digest is None

    token = link()

    assert token not in repr(post.jobs)
    assert token not in str(OneTimeToken.objects.values())


def test_owner_without_a_proven_address_is_notified_by_sms_without_a_link(api, flows, post):
    thief = Thief(flows, api.sign_up(phone_number=PHONE)["access_token"])
    flows.verify_phone(flows.phone_code())
    post.jobs.clear()

    thief.put(phone=THIEFS_PHONE)

    message = post.outgoing(kinds.PHONE_CHANGED_TEXT)
    assert (message.to, message.channel, dict(message.context)) == (PHONE, "sms", {})
    assert post.kinds() == [kinds.PHONE_CHANGED_TEXT]


def test_notice_that_the_account_was_secured_has_no_such_link(thief, link, secure, post):
    thief.put(phone=THIEFS_PHONE)
    secure(link())

    assert [job.kind for job in post.jobs][1:] == [kinds.ACCOUNT_SECURED]
    assert "/reset-password" in post.link(kinds.ACCOUNT_SECURED)


def test_page_is_translated_to_german(thief, link, api):
    thief.put(phone=THIEFS_PHONE)

    with translation.override("de"):
        page = open_link(api, link(), **HTML).response

    assert "Das war ich nicht" in page.content.decode()
