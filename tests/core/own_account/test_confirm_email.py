"""GET and POST /change-email/confirm: the link to a new address, and the page of its button."""

from datetime import timedelta

import pytest

from authservice.core.credentials import one_time
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken
from authservice.core.users import lookup
from authservice.core.users.identifiers import email_key
from tests.core.own_account.owner import CONFIRM, EVE, INVALID, Owner, confirm, open_link
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account, deactivate, prove

pytestmark = pytest.mark.django_db

EXPIRED = (400, "VERIFICATION_TOKEN_EXPIRED")
BROWSER = "text/html,application/xhtml+xml"
FORM = "application/x-www-form-urlencoded"
FRONT = {"URL": "https://app.example", "VERIFY_EMAIL_CALLBACK_PATH": "/verified"}


@pytest.fixture
def cookie(proven_owner):
    """The cookie of the browser that requested EVE."""
    jar = proven_owner.move().response.cookies
    return "; ".join(f"{name}={morsel.value}" for name, morsel in jar.items())


def test_confirmation_changes_the_address_and_proves_it(api, requested, proven_owner):
    answer = confirm(api, requested())

    assert (answer.status, answer.data["status"]) == (200, "success")
    user = proven_owner.me()
    assert (user["email"], user["email_verified"]) == (EVE, True)
    assert user["updated_at"] is None
    assert account(EVE).proven_email_key == email_key(EVE)


def test_user_logs_in_with_the_new_address_only(api, requested):
    confirm(api, requested())

    assert api.post("login", email=EVE, password=PASSWORD).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).code == "INVALID_CREDENTIALS"


def test_confirmed_address_keeps_the_sessions(api, requested, ann):
    confirm(api, requested())

    assert api.get("me", token=ann["access_token"]).status == 200
    assert api.post("refresh", refresh_token=ann["refresh_token"]).status == 200


def test_both_addresses_are_mailed(api, requested, proven_owner, post):
    token = requested()
    post.jobs.clear()

    confirm(api, token, headers={"Authorization": f"Bearer {proven_owner.token}"})

    assert {(job.kind, job.target) for job in post.jobs} == {
        (kinds.EMAIL_CHANGED, ANN),
        (kinds.EMAIL_CHANGE_CONFIRMED, EVE),
    }
    to = [post.outgoing(kind).to for kind in sorted(post.kinds())]
    assert to == [EVE, ANN]


def test_second_click_says_success_and_does_nothing(api, requested, post):
    token = requested()
    confirm(api, token)
    post.jobs.clear()

    assert confirm(api, token).status == 200
    assert post.jobs == []


def test_second_click_of_a_suspended_user_is_refused(api, requested):
    token = requested()
    confirm(api, token)
    deactivate(EVE)

    assert confirm(api, token).error == INVALID


def test_second_click_is_refused_if_the_user_is_suspended_meanwhile(api, requested, monkeypatch):
    token = requested()
    confirm(api, token)
    consume = one_time.consume_for

    def suspended(*given):
        deactivate(EVE)
        return consume(*given)

    monkeypatch.setattr(one_time, "consume_for", suspended)

    assert confirm(api, token).error == INVALID


def test_second_click_after_another_change_is_refused(api, requested, post, proven_owner):
    token = requested()
    confirm(api, token)
    proven_owner.move("third@example.com")
    confirm(api, post.token(kinds.CHANGE_EMAIL))

    assert confirm(api, token).error == INVALID


def test_link_expires_after_a_day(api, requested, proven_owner, clock):
    proven_owner.token = api.log_in()["access_token"]
    token = requested()

    clock.forward(hours=23, minutes=59)
    assert open_link(api, token).data == {"status": "confirm"}
    clock.forward(minutes=1)
    assert confirm(api, token).error == EXPIRED
    assert open_link(api, token).error == EXPIRED


def test_mail_that_is_sent_again_says_how_long_the_link_is_still_valid(
    api, requested, proven_owner, post, clock
):
    """Staff can send a lost message again for two weeks."""
    proven_owner.token = api.log_in()["access_token"]
    requested()
    left = []
    for _ in range(3):
        outgoing = post.outgoing(kinds.CHANGE_EMAIL)
        left.append(outgoing and outgoing.context["expires_in"] // timedelta(hours=1))
        clock.forward(hours=13)

    assert left == [24, 11, None]


@pytest.mark.parametrize("path", [CONFIRM, f"{CONFIRM}?token=", f"{CONFIRM}?token={'A' * 43}"])
def test_unknown_link_is_refused(api, path):
    assert api.get(path).error == INVALID


def test_unknown_token_is_refused(api):
    assert confirm(api, "A" * 43).error == INVALID


def test_password_change_ends_the_link(api, requested, proven_owner):
    token = requested()
    body = {"old_password": PASSWORD, "new_password": NEW}
    assert api.request("PUT", "change-password", body, token=proven_owner.token).status == 200

    assert confirm(api, token).error == INVALID


def test_reset_ends_the_link(api, requested, flows):
    token = requested()
    flows.reset(flows.reset_token())

    assert confirm(api, token).error == INVALID
    assert account().email == ANN


@pytest.mark.parametrize("issue", ["reset_token", "email_token"])
def test_links_to_the_former_address_end(api, requested, flows, issue):
    if issue == "email_token":
        account().__class__.objects.update(verified_email_key="", proven_email_key="")
    stale = getattr(flows, issue)()
    prove(phone=PHONE)

    confirm(api, requested())

    assert not OneTimeToken.objects.filter(
        target_key=email_key(ANN), spent_at=None, purpose__in=("reset-password", "verify-email")
    ).exists()
    assert flows.reset(stale).code == "INVALID_TOKEN"
    assert flows.click(stale).code == "INVALID_VERIFICATION_TOKEN"


def test_rows_without_an_address_stay_if_there_was_no_former_address(api, post):
    token = api.post("signup", username="nora", password=PASSWORD).data["access_token"]
    user = Account.objects.get().user
    plain = Purpose("plain", link_ttl=timedelta(hours=1))
    one_time.issue_link(plain, lookup.get_person(user))
    Owner(api, token, "").move()

    assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200

    assert OneTimeToken.objects.get(purpose="plain").spent_at is None


def test_address_that_another_user_took_meanwhile_is_refused(api, requested):
    token = requested()
    api.sign_up(EVE)

    assert confirm(api, token).error == INVALID
    assert account(ANN).email == ANN


# The page and the cookie.


def test_browser_gets_a_page_that_names_the_account_and_changes_nothing(api, requested):
    answer = open_link(api, requested(), Accept=BROWSER)

    text = answer.response.content.decode()
    assert answer.status == 200
    assert ANN in text
    assert EVE in text
    assert 'method="post"' in text
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert account().email == ANN


@pytest.mark.parametrize("accept", ["", "*/*", "application/json"])
def test_other_clients_have_to_confirm(api, requested, accept):
    answer = open_link(api, requested(), Accept=accept)

    assert answer.data == {"status": "confirm"}
    assert account().email == ANN


@pytest.mark.parametrize("accept", [BROWSER, "application/json"])
def test_browser_of_the_request_changes_the_address_at_once(api, cookie, post, accept):
    token = post.token(kinds.CHANGE_EMAIL)

    answer = open_link(api, token, Accept=accept, Cookie=cookie)

    assert answer.data["status"] == "success"
    assert account(EVE).proven_email_key == email_key(EVE)


def test_image_in_the_browser_of_the_request_changes_nothing(api, cookie, post):
    token = post.token(kinds.CHANGE_EMAIL)
    embedded = {"Accept": "image/*", "Cookie": cookie, "Sec-Fetch-Mode": "no-cors"}

    assert open_link(api, token, **embedded).status == 200
    assert account().email == ANN


def test_cookie_of_another_address_or_account_changes_nothing(api, cookie, requested, post):
    other_address = requested("other@example.com")
    ben = Owner(api, api.sign_up("ben@example.com")["access_token"], "")
    ben.move(EVE)
    other_account = post.token(kinds.CHANGE_EMAIL)

    for token in (other_address, other_account):
        assert open_link(api, token, Cookie=cookie).data == {"status": "confirm"}


@pytest.mark.parametrize("headers", [{"Purpose": "prefetch"}, {"Sec-Purpose": "prefetch"}])
def test_prefetch_changes_nothing(api, cookie, post, headers):
    token = post.token(kinds.CHANGE_EMAIL)

    assert open_link(api, token, Cookie=cookie, **headers).status == 503
    assert account().email == ANN


def test_head_changes_nothing(api, cookie, post):
    token = post.token(kinds.CHANGE_EMAIL)

    api.request("HEAD", f"{CONFIRM}?token={token}", headers={"Cookie": cookie})

    assert account().email == ANN


@pytest.mark.parametrize(
    ("accept", "proven"), [("application/json", True), (BROWSER, False), ("", False)]
)
def test_link_without_page_verifies_and_proves_only_for_json(
    api, requested, configure, accept, proven
):
    configure(CORE={"VERIFY_CONFIRM": "off"})

    assert open_link(api, requested(), Accept=accept).data["status"] == "success"

    stored = account(EVE)
    assert stored.verified_email_key == email_key(EVE)
    assert bool(stored.proven_email_key == email_key(EVE)) is proven


def test_form_of_another_site_gets_the_page_again(api, requested):
    token = requested()
    options = {"content_type": FORM, "headers": {"Sec-Fetch-Site": "cross-site"}}

    answer = api.request("POST", CONFIRM, f"token={token}", **options)

    assert b'method="post"' in answer.response.content
    assert account().email == ANN


def test_form_of_the_page_redirects_to_the_front_end(api, requested, configure):
    configure(FRONTEND=FRONT)
    options = {"content_type": FORM, "headers": {"Sec-Fetch-Site": "same-origin"}}

    done = api.request("POST", CONFIRM, f"token={requested()}", **options)
    failed = api.request("POST", CONFIRM, f"token={'A' * 43}", **options)

    assert (done.status, done.headers["Location"]) == (
        303,
        "https://app.example/verified?status=success",
    )
    assert (failed.status, failed.headers["Location"]) == (
        303,
        "https://app.example/verified?status=error",
    )


def test_bad_link_redirects_to_the_front_end(api, configure):
    configure(FRONTEND=FRONT)

    answer = open_link(api, "A" * 43, Accept=BROWSER)

    assert answer.headers["Location"] == "https://app.example/verified?status=error"
