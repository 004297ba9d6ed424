"""Whoever made an account with somebody's address has no part in it once the owner proves it."""

from dataclasses import dataclass
from typing import Any

import pytest

from authservice.core.credentials import one_time
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.users.identifiers import email_key, phone_key
from authservice.kernel import message_queue
from authservice.kernel.modules import plugged
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.people import the_user
from tests.recovery.flows import NEW, PHONE, Flows, account, prove

pytestmark = pytest.mark.django_db


@dataclass
class Squatter:
    """Who signed up with Ann's address before her, and what they hold."""

    access_token: str
    refresh_token: str


@pytest.fixture
def squatter(api, post) -> Squatter:
    signed_up = api.sign_up(phone_number=PHONE, name="Call 0900 12345")
    account = Account.objects.get()
    Account.objects.update(verified_phone_key=account.phone_key)
    post.jobs.clear()
    return Squatter(signed_up["access_token"], signed_up["refresh_token"])


@pytest.fixture(params=["link", "button", "code"])
def come(request, magic):
    """Ann proves her address; `come(token)` with an access token."""

    def come(token: str = "") -> Any:
        pair = magic.mailed()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if request.param == "code":
            return magic.type(pair.code, **headers)
        use = magic.follow if request.param == "link" else magic.push
        return use(pair.token, **headers)

    return come


def test_the_password_opens_nothing_any_more(api, squatter, come):
    come()

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")


def test_who_was_in_is_out(api, squatter, come):
    come()

    assert api.get("me", token=squatter.access_token).status == 401
    assert api.post("refresh", refresh_token=squatter.refresh_token).status == 401


def test_the_sign_in_from_before_has_ended_and_says_why(squatter, come):
    come()

    ended = Session.objects.exclude(ended_at=None)
    assert [row.end_reason for row in ended] == ["unproven"]


def test_a_number_from_before_is_unverified_where_it_is_put_in_again(api, squatter, come):
    token = come().data["access_token"]

    Account.objects.update(phone_number=PHONE, phone_key=phone_key(PHONE))

    assert api.get("me", token=token).data["phone_number_verified"] is False


def test_a_device_from_before_has_no_claim_on_guesses_of_its_own(squatter, come):
    version = account().token_version
    come()

    assert account().token_version > version


def test_the_owner_is_in(api, squatter, come):
    answer = come()

    me = api.get("me", token=answer.data["access_token"])
    assert me.data["email_verified"] is True
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_the_number_of_a_stranger_gets_no_code(api, post, squatter, come):
    come()
    api.post("forgot-password", phone=PHONE)

    assert post.letter(message_queue.RESET_BY_CODE) is None
    assert account().phone_number == ""


def test_secrets_that_were_open_are_not_any_more(api, post, squatter, come):
    flows = Flows(api, post)
    code = flows.reset_code()
    come()

    assert flows.reset_by_code(code).status == 400
    assert one_time.OneTimeToken.objects.filter(spent_at=None).count() == 0


def test_every_module_is_asked_to_take_its_part_away(squatter, come):
    asked = []

    def wipe(person):
        asked.append((person.email, Session.objects.filter(ended_at=None).count()))

    with plugged("revoke_unverified_access", wipe):
        come()

    assert asked == [(ANN, 1)]


def test_a_gate_is_asked_after_that(squatter, come):
    order = []

    def gate(arrival):
        order.append("gate")

    with (
        plugged("revoke_unverified_access", lambda person: order.append("wipe")),
        plugged("login_gate", gate),
    ):
        come()

    assert order == ["wipe", "gate"]


def test_the_owner_is_mailed_a_link_to_set_a_password(api, post, squatter, come):
    come()
    flows = Flows(api, post)

    assert flows.reset(post.token(message_queue.ACCESS_WIPED)).status == 200
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_the_second_proof_takes_nothing(api, post, squatter, come):
    come()
    flows = Flows(api, post)
    flows.reset(post.token(message_queue.ACCESS_WIPED))
    tokens = api.log_in(password=NEW)

    come()

    assert api.get("me", token=tokens["access_token"]).status == 200
    assert post.kinds().count(message_queue.ACCESS_WIPED) == 1


def test_who_has_proven_the_address_by_another_road_loses_nothing(api, squatter, come):
    prove()
    come()

    assert api.get("me", token=squatter.access_token).status == 200
    api.log_in()


def test_who_is_in_and_comes_by_the_mail_too_loses_nothing(api, post, squatter, come):
    answer = come(squatter.access_token)

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=squatter.access_token).status == 200
    assert api.get("me", token=squatter.access_token).data["phone_number"] == PHONE
    assert message_queue.ACCESS_WIPED not in post.kinds()
    api.log_in()


def test_a_token_that_ended_spares_nothing(api, squatter, come):
    api.post("logout", token=squatter.access_token)
    come(squatter.access_token)

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_nor_one_that_is_only_checked_lightly_elsewhere(api, squatter, come, configure):
    configure(STATELESS={"CHECK": "signature"})
    api.post("logout", token=squatter.access_token)
    come(squatter.access_token)

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_nor_the_token_of_somebody_else(api, squatter, come):
    eve = api.sign_up("eve@example.com")
    come(eve["access_token"])

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


@pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
def test_nor_what_is_no_token(api, squatter, come, token):
    assert come(token).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_the_setting_turns_it_off(api, post, squatter, come, configure):
    configure(CORE={"WIPE_UNPROVEN": False})
    answer = come()

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=squatter.access_token).status == 200
    assert message_queue.ACCESS_WIPED not in post.kinds()
    # The number that the squatter gave at the sign-up resets no password for 72 hours.
    assert account().phone_set_by == PhoneSource.SESSION
    assert message_queue.EMAIL_CONFIRMED in post.kinds()
    api.log_in()


def test_an_address_that_was_changed_behind_our_back_counts_as_unproven(api, squatter, come):
    Account.objects.update(verified_email_key=email_key("old@example.com"))
    come()

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_who_has_no_password_but_was_in_is_out_too(api, squatter, come):
    user = the_user()
    user.set_unusable_password()
    user.save()
    access_token = come(squatter.access_token).data["access_token"]
    Account.objects.update(verified_email_key="", proven_email_key="")

    come()

    assert api.get("me", token=access_token).status == 401


def test_a_number_that_must_be_verified_keeps_the_owner_out_and_the_stranger_too(
    api, squatter, come, configure
):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert is_refusal(come(), 403, "PHONE_NOT_VERIFIED")
    assert api.get("me", token=squatter.access_token).status == 401
    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_where_addresses_must_be_verified_first_the_mail_does_it(api, magic, post, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    api.sign_up()

    answer = magic.follow(magic.mailed().token)

    assert answer.status == 200
    assert answer.data["user"]["email_verified"] is True
