"""The former address of an account is reserved for it, so that its owner can restore it."""

import pytest
from django.core.management import call_command

from authservice.core.credentials import one_time
from authservice.core.messages import kinds
from authservice.core.models import AddressReservation
from authservice.core.own_account import email_change
from authservice.core.users import lookup
from authservice.core.users.identifiers import email_key
from tests.admin_api.people import promote
from tests.core.own_account.owner import EVE, Owner, confirm
from tests.support.client import PASSWORD
from tests.support.flows import ANN, account

pytestmark = pytest.mark.django_db


def test_former_address_is_reserved_for_three_days(api, requested, proven_owner, clock):
    proven_owner.token = api.log_in()["access_token"]
    confirm(api, requested())

    assert api.post("signup", email=ANN, password=PASSWORD).code == "USER_ALREADY_EXISTS"
    assert api.post("is-available", email="ANN@example.com").data["available"] is False
    clock.forward(hours=72)
    assert api.post("is-available", email=ANN).data["available"] is True
    assert api.post("signup", email=ANN, password=PASSWORD).status == 201


def test_former_address_that_was_never_proven_is_free_at_once(api, owner, post):
    owner.move()
    assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200

    assert api.post("is-available", email=ANN).data["available"] is True
    assert api.post("signup", email=ANN, password=PASSWORD).status == 201


def test_nobody_else_changes_to_the_former_address(api, requested):
    ben = Owner(api, api.sign_up("ben@example.com")["access_token"], "")
    confirm(api, requested())

    assert ben.move(ANN).error == (400, "USER_ALREADY_EXISTS")


def test_account_changes_back_to_its_former_address(api, requested, proven_owner, post):
    confirm(api, requested())

    assert proven_owner.move(ANN).status == 200
    assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200
    assert proven_owner.me()["email"] == ANN


def test_link_of_the_former_address_restores_it_after_several_changes(
    api, requested, proven_owner, post
):
    confirm(api, requested())
    secured = post.token(kinds.EMAIL_CHANGED)
    proven_owner.move("third@example.com")
    confirm(api, post.token(kinds.CHANGE_EMAIL))
    assert api.post("signup", email=ANN, password=PASSWORD).code == "USER_ALREADY_EXISTS"

    assert api.request("POST", "account/secure", {"token": secured}).status == 200

    assert account(ANN).proven_email_key == email_key(ANN)
    assert post.outgoing(kinds.ACCOUNT_SECURED).to == ANN


def test_staff_give_the_former_address_back(api, requested, proven_owner):
    confirm(api, requested())
    root = api.sign_up("root@example.com")
    promote("root@example.com")

    path = f"admin/users/{proven_owner.user_id}"
    answer = api.request("PUT", path, {"email": ANN}, token=root["access_token"])

    assert answer.status == 200
    assert account(ANN).email == ANN


def test_reservation_remains_after_a_recovery_and_a_cleanup(api, requested):
    confirm(api, requested())

    one_time.revoke_all_but_notices(lookup.find_by_email(EVE))
    call_command("authservice_cleanup", verbosity=0)

    assert email_change.is_reserved_for(lookup.find_by_email(EVE), email_key(ANN))


def test_cleanup_deletes_a_reservation_that_has_expired(api, requested, proven_owner, clock):
    proven_owner.token = api.log_in()["access_token"]
    confirm(api, requested())
    clock.forward(hours=72)

    call_command("authservice_cleanup", verbosity=0)

    assert not AddressReservation.objects.exists()


def test_reservation_ends_with_the_account(api, requested):
    confirm(api, requested())
    account(EVE).user.delete()

    assert api.post("signup", email=ANN, password=PASSWORD).status == 201


def test_hidden_request_for_a_reserved_address_notifies_its_former_owner(
    api, requested, post, configure
):
    ben = Owner(api, api.sign_up("ben@example.com")["access_token"], "")
    confirm(api, requested())
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})

    ben.move(ANN)

    message = post.outgoing(kinds.CHANGE_EMAIL)
    assert (message.kind, message.to) == (kinds.EMAIL_TAKEN, ANN)


def test_mailbox_that_the_account_leaves_again_gets_no_link(api, requested, proven_owner, post):
    """An intruder may have changed the address, and the owner changes it back with the password."""
    confirm(api, requested())
    proven_owner.move("third@example.com")
    in_eve = [post.token(kinds.EMAIL_CHANGE_REQUESTED)]
    post.jobs.clear()

    proven_owner.move(ANN)
    assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200

    assert account(ANN).proven_email_key == email_key(ANN)
    mailed = {kind: post.outgoing(kind) for kind in post.kinds()}
    assert mailed[kinds.EMAIL_CHANGED].to == EVE
    assert mailed[kinds.EMAIL_CHANGE_REQUESTED].to == EVE
    assert not any(mail.context.get("link") for mail in mailed.values() if mail and mail.to == EVE)
    for token in in_eve:
        api.request("POST", "account/secure", {"token": token})
    assert account(ANN).user.has_usable_password()
