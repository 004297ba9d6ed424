"""How far an account is trusted whose new address was proven: by its own client, or by another."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import PhoneSource
from authservice.core.users.identifiers import email_key
from tests.core.own_account.owner import EVE, confirm
from tests.core.recovery.thief import THIEFS_PHONE, Thief
from tests.support.client import PASSWORD
from tests.support.flows import NEW, account

pytestmark = pytest.mark.django_db
FORMER = "thief@example.com"


@pytest.fixture
def attacker(api, flows, post, clock):
    """An account with a proven address and a number that was verified long ago."""
    thief = Thief(
        flows, api.sign_up("thief@example.com", phone_number=THIEFS_PHONE)["access_token"]
    )
    assert flows.verify_phone(flows.phone_code(THIEFS_PHONE), THIEFS_PHONE).status == 200
    link = flows.email_token("thief@example.com")
    own = {"Accept": "application/json", "Authorization": f"Bearer {thief.token}"}
    assert flows.click(link, "thief@example.com", **own).status == 200
    clock.forward(hours=100)
    thief.token = api.log_in("thief@example.com")["access_token"]
    post.jobs.clear()
    return thief


@pytest.fixture
def request_eve(api, attacker, post):
    """Request EVE; returns the token of the link, and the cookie of the browser."""

    def request_eve():
        body = {"email": EVE, "password": PASSWORD}
        answer = api.request("POST", "change-email", body, token=attacker.token)
        jar = answer.response.cookies
        cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in jar.items())
        return post.token(kinds.CHANGE_EMAIL), cookie

    return request_eve


def test_number_loses_its_privilege_if_another_client_confirms(api, request_eve, post):
    link, _ = request_eve()
    before = account("thief@example.com").email_proven_at

    assert confirm(api, link).status == 200

    stored = account(EVE)
    assert stored.phone_set_by == PhoneSource.SESSION
    assert stored.email_proven_at > before
    assert post.outgoing(kinds.EMAIL_CONFIRMED).to == EVE
    api.post("forgot-password", phone=THIEFS_PHONE)
    assert "code" not in post.outgoing(kinds.RESET_BY_CODE).context


def test_link_of_the_notice_removes_what_was_set_up_before(api, request_eve, post):
    confirm(api, request_eve()[0])
    secured = post.token(kinds.EMAIL_CONFIRMED)

    assert api.request("POST", "account/secure", {"token": secured}).status == 200

    stored = account(EVE)
    assert stored.phone_number == ""
    assert not stored.user.has_usable_password()


@pytest.mark.parametrize("known_by", ["cookie", "session"])
def test_own_client_keeps_the_trust_of_a_proven_account(api, request_eve, attacker, post, known_by):
    link, cookie = request_eve()
    before = account("thief@example.com")
    bearer = {"Authorization": f"Bearer {attacker.token}"}
    headers = {"Cookie": cookie} if known_by == "cookie" else bearer

    assert confirm(api, link, headers=headers).status == 200

    stored = account(EVE)
    assert stored.email_proven_at == before.email_proven_at
    assert stored.phone_set_by == before.phone_set_by
    assert kinds.EMAIL_CONFIRMED not in post.kinds()
    api.post("forgot-password", phone=THIEFS_PHONE)
    assert "code" in post.outgoing(kinds.RESET_BY_CODE).context


def test_session_of_another_user_is_not_the_own_client(api, request_eve, post):
    ben = api.sign_up("ben@example.com")["access_token"]

    confirm(api, request_eve()[0], headers={"Authorization": f"Bearer {ben}"})

    assert kinds.EMAIL_CONFIRMED in post.kinds()


def test_first_proof_by_the_own_client_dates_the_account(api, owner, post):
    owner.move()
    link = post.token(kinds.CHANGE_EMAIL)

    confirm(api, link, headers={"Authorization": f"Bearer {owner.token}"})

    assert account(EVE).email_proven_at is not None


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 1)])
def test_link_to_the_former_address_wins_over_that_to_the_new_one(
    api, flows, request_eve, post, order
):
    """The new address may be that of an intruder who knows the password."""
    confirm(api, request_eve()[0])
    links = post.token(kinds.EMAIL_CHANGED), post.token(kinds.EMAIL_CONFIRMED)

    for number in order:
        secured = api.request("POST", "account/secure", {"token": links[number]})
        assert secured.status == 200

    assert account(FORMER).proven_email_key == email_key(FORMER)
    assert post.outgoing(kinds.ACCOUNT_SECURED).to == FORMER
    api.post("forgot-password", email=FORMER)
    assert flows.reset(post.token(kinds.RESET_BY_LINK), email=FORMER).status == 200
    token = api.log_in(FORMER, password=NEW)["access_token"]
    api.request("POST", "account/secure", {"token": links[1]})
    assert api.get("me", token=token).status == 200
