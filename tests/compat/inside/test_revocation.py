"""Everything that ends all sessions of a user also blocks the tokens of simplejwt of that user."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from django.core.management import call_command
from django.db import transaction
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken

from authservice.core.credentials import passwords
from authservice.core.recovery import first_proof
from authservice.core.sessions import revocation, sessions
from authservice.core.users import lookup
from authservice.kernel import clock
from authservice.kernel.client import Client
from tests.compat.inside.old import OldClient
from tests.support.client import PASSWORD
from tests.support.people import make_user, the_user
from tests.twofactor.people import Person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("trades")]

BLOCKED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def token(ann, before):
    return before.obtain().body["refresh"]


@pytest.fixture
def trade(api):
    return lambda token: api.post("refresh", refresh_token=token).error


def test_changed_password_blocks_the_old_tokens(api, ann, token, trade, before):
    access = api.post("login", username="ann", password=PASSWORD).data["access_token"]
    body = {"old_password": PASSWORD, "new_password": "another plum 43"}
    assert api.request("PUT", "change-password", body, token=access).status == 200

    assert trade(token) == BLOCKED
    assert before.refresh(token).status == 401
    assert api.get("me", token=access).status == 200


def test_raised_token_version_blocks_the_old_tokens(ann, token, trade):
    sessions.end_all(lookup.get_person(ann), sessions.RESET)

    assert trade(token) == BLOCKED


def test_second_factor_enabled_here_blocks_the_old_tokens(api, before, trade):
    person = Person(api).sign_up()
    token = before.obtain(the_user().username).body["refresh"]
    assert trade(token)[0] == 200
    token = before.obtain(the_user().username).body["refresh"]

    person.enrol()

    assert trade(token) == BLOCKED


def test_user_with_a_second_factor_stays_signed_in_without_its_proof(api, before):
    person = Person(api).sign_up()
    person.enrol()
    # simplejwt knows nothing of the factor, as before the move.
    token = before.obtain(the_user().username).body["refresh"]
    data = api.post("refresh", refresh_token=token).data

    claims = jwt.decode(data["access_token"], options={"verify_signature": False})
    assert claims["amr"] == ["legacy"]
    assert api.get("2fa/status", token=data["access_token"]).data["enabled"]
    assert person.challenge()


def test_other_users_keep_their_tokens(ann, token, trade):
    make_user("bob@example.com")
    theirs = OldClient("/old/").obtain("bob").body["refresh"]

    sessions.end_all(lookup.get_person(ann), sessions.RESET)

    assert trade(token) == BLOCKED
    assert trade(theirs)[0] == 200


def test_revocation_of_everyone_blocks_the_tokens_of_users_without_a_session(token, trade):
    call_command("authservice_revoke", "--all", "--no-input", verbosity=0)

    assert trade(token) == BLOCKED


def test_revocation_before_a_time_keeps_newer_tokens(ann, token, trade):
    OutstandingToken.objects.update(created_at=datetime.now(UTC) - timedelta(days=2))
    newer = OldClient("/old/").obtain().body["refresh"]

    revocation.revoke_users([ann], before=datetime.now(UTC) - timedelta(days=1))

    assert trade(token) == BLOCKED
    assert trade(newer)[0] == 200


def test_expired_and_blocked_tokens_get_no_further_row(ann, token, before):
    before.blacklist(token)
    before.obtain()
    OutstandingToken.objects.filter(blacklistedtoken=None).update(
        expires_at=datetime.now(UTC) - timedelta(seconds=1)
    )

    sessions.end_all(lookup.get_person(ann), sessions.RESET)

    assert BlacklistedToken.objects.count() == 1


def test_many_tokens_are_blocked_in_batches(ann, monkeypatch):
    monkeypatch.setattr("authservice.compat.simplejwt.trade._BATCH", 3)
    for _ in range(7):
        OldClient("/old/").obtain()

    sessions.end_all(lookup.get_person(ann), sessions.RESET)

    assert BlacklistedToken.objects.count() == 7


def test_logout_with_an_old_token_blocks_it(client, before, token, trade, events):
    assert client.blacklist(token).status == 200

    assert [event.action for event in events("auth.logout")] == ["auth.logout"]
    assert trade(token) == BLOCKED
    assert before.refresh(token).status == 401
    assert client.blacklist(token).status == 401


def test_logout_with_a_traded_token_is_refused(api, client, token):
    traded = api.post("refresh", refresh_token=token).data

    assert client.blacklist(token).status == 401
    assert api.get("me", token=traded["access_token"]).status == 200


def prove_address(user):
    with clock.unit(), transaction.atomic():
        person = lookup.get_person(user)
        passwords.lock_user(person)
        first_proof.confirm_address(person, Client())


def test_first_proof_ends_a_traded_session(api, trade):
    """Other packages log users of providers in without Django's `login`: these users have neither
    a password nor `last_login`, and their address may be another person's."""
    user = make_user(password=None)
    token = api.post("refresh", refresh_token=str(RefreshToken.for_user(user))).data["access_token"]
    OutstandingToken.objects.all().delete()

    prove_address(user)

    assert api.get("me", token=token).status == 401


def test_first_proof_blocks_tokens_that_were_never_traded(trade):
    user = make_user(password=None)
    token = str(RefreshToken.for_user(user))

    prove_address(user)

    assert trade(token) == BLOCKED
