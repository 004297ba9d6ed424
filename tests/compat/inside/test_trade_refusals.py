"""Which tokens of simplejwt are traded for nothing."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken

from authservice.core.models import Account, Session
from tests.compat.inside.old import claims_of, refresh, signed
from tests.support.people import change, deactivate, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("trades")]

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def token(ann, before):
    """A refresh token that simplejwt issued."""
    return before.obtain().body["refresh"]


def test_token_that_simplejwt_blocked_is_refused(api, before, token):
    before.blacklist(token)

    assert refresh(api, token).error == REFUSED
    assert not Session.objects.exists()


def test_token_that_simplejwt_replaced_is_refused(api, before, token):
    before.refresh(token)

    assert refresh(api, token).error == REFUSED


def test_expired_token_is_refused(api, ann, before, clock, trades):
    trades()
    token = before.obtain().body["refresh"]
    clock.forward(days=31)

    assert refresh(api, token).error == REFUSED


def test_token_whose_row_has_expired_is_refused(api, token):
    OutstandingToken.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))

    assert refresh(api, token).error == REFUSED


@pytest.mark.parametrize(
    "changed",
    [
        {"UNTIL": datetime(2020, 1, 1, tzinfo=UTC)},
        {"ISSUED_BEFORE": datetime(2020, 1, 1, tzinfo=UTC)},
        {"UNTIL": None},
        {"ISSUED_BEFORE": None},
        {"UNTIL": None, "ISSUED_BEFORE": None},
    ],
    ids=str,
)
def test_token_is_refused_outside_of_the_times(api, token, trades, changed):
    trades(**changed)

    assert refresh(api, token).error == REFUSED
    assert not BlacklistedToken.objects.exists()


def test_token_whose_row_is_newer_than_its_claims_is_refused(api, token, trades):
    OutstandingToken.objects.update(created_at=datetime.now(UTC) + timedelta(hours=1))

    assert refresh(api, token).error == REFUSED


def test_forged_token_with_the_key_trades_for_nothing(api, ann):
    forged = signed(user_id=str(ann.pk))

    assert refresh(api, forged).error == REFUSED
    assert not Session.objects.exists()


def test_successor_of_a_forged_token_is_refused_if_only_older_tokens_are_traded(
    api, ann, before, trades
):
    """simplejwt's own refresh route rotates a forged token, and lists the new one."""
    rotated = before.refresh(signed(user_id=str(ann.pk))).body["refresh"]
    trades(ISSUED_BEFORE=datetime.now(UTC) - timedelta(minutes=1))

    assert OutstandingToken.objects.filter(user=ann, token=rotated).exists()
    assert refresh(api, rotated).error == REFUSED
    assert not Session.objects.exists()


def test_forged_token_for_another_user_trades_for_nothing(api, ann, token):
    bob = make_user("bob@example.com")
    forged = signed(user_id=str(bob.pk), jti=claims_of(token)["jti"])

    assert refresh(api, forged).error == REFUSED
    assert not Session.objects.exists()
    assert not BlacklistedToken.objects.exists()


def test_token_with_another_key_trades_for_nothing(api, token):
    claims = claims_of(token)

    assert refresh(api, jwt.encode(claims, "x" * 40, algorithm="HS256")).error == REFUSED
    assert refresh(api, jwt.encode(claims, None, algorithm="none")).error == REFUSED


@pytest.mark.parametrize(
    "claims",
    [
        *({"jti": value} for value in (5, ["x"], None)),
        *({"iat": value} for value in ("now", None, [], {}, True, 1e400)),
        *({"exp": value} for value in ("now", None, [], {}, 1e400)),
        *({"user_id": value} for value in ({}, None, [1])),
    ],
    ids=str,
)
def test_token_with_malformed_claims_is_refused(api, token, claims):
    assert refresh(api, signed(**(claims_of(token) | claims))).error == REFUSED


def test_access_token_of_simplejwt_is_refused(api, before, ann):
    assert refresh(api, before.obtain().body["access"]).error == REFUSED


def test_row_without_a_user_trades_for_nothing(api, token):
    OutstandingToken.objects.update(user=None)

    assert refresh(api, token).error == REFUSED


@pytest.mark.parametrize("right", ["is_staff", "is_superuser"])
def test_staff_log_in_again(api, token, right):
    change(**{right: True})

    assert refresh(api, token).error == REFUSED
    assert not Session.objects.exists()
    assert not BlacklistedToken.objects.exists()


def test_super_admin_logs_in_again(api, token):
    Account.objects.update_or_create(
        user_id=OutstandingToken.objects.get().user_id, defaults={"is_super_admin": True}
    )

    assert refresh(api, token).error == REFUSED


def test_inactive_user_logs_in_again(api, token):
    deactivate()

    assert refresh(api, token).error == REFUSED


def test_unverified_user_logs_in_again_where_verification_is_required(
    api, token, configure, settings
):
    configure(**settings.AUTHSERVICE, CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert refresh(api, token).error == REFUSED


def test_user_whom_the_rule_of_simplejwt_refuses_logs_in_again(api, token, monkeypatch):
    monkeypatch.setattr(api_settings, "USER_AUTHENTICATION_RULE", lambda user: False)

    assert refresh(api, token).error == REFUSED


def test_token_with_a_revoked_password_is_refused(api, ann, monkeypatch):
    monkeypatch.setattr(api_settings, "CHECK_REVOKE_TOKEN", True)
    token = RefreshToken.for_user(ann)
    assert refresh(api, RefreshToken.for_user(ann)).status == 200
    ann.set_password("another plum 43")
    ann.save()

    assert refresh(api, token).error == REFUSED
