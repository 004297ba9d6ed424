"""A refresh token of simplejwt is traded once for a session here."""

import json
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122

import pytest
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken

from authservice import signals
from authservice.core.models import Session
from tests.compat.inside.old import claims_of, refresh
from tests.support.client import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("trades")]

REFUSED = (401, "INVALID_REFRESH_TOKEN")


@pytest.fixture
def token(ann, before):
    """A refresh token that simplejwt issued."""
    return before.obtain().body["refresh"]


def test_token_is_traded_for_a_session(api, ann, token):
    answer = refresh(api, token)

    assert answer.status == 200
    assert api.get("me", token=answer.data["access_token"]).data["id"] == str(ann.pk)
    assert refresh(api, answer.data["refresh_token"]).status == 200


def test_token_is_traded_at_the_route_of_simplejwt(client, token):
    answer = client.refresh(token)

    assert answer.status == 200
    assert client.refresh(answer.body["refresh"]).status == 200


def test_token_that_simplejwt_rotated_is_traded(api, before, token):
    assert refresh(api, before.refresh(token).body["refresh"]).status == 200


def test_token_with_claims_of_the_project_is_traded(api, ann):
    token = RefreshToken.for_user(ann)
    token["roles"] = ["x" * 60] * 40

    assert refresh(api, token).status == 200


def test_session_has_the_time_of_the_token_and_no_proof(api, ann, clock, before, trades):
    trades()
    token = before.obtain().body["refresh"]
    began = datetime.now(UTC)
    clock.forward(seconds=50)
    answer = refresh(api, token)
    claims = claims_of(answer.data["access_token"])

    assert Session.objects.get().auth_time == began
    assert (claims["amr"], claims["auth_time"]) == (["legacy"], int(began.timestamp()))


def test_refreshed_session_keeps_time_and_proof(api, token):
    first = refresh(api, token).data
    second = refresh(api, first["refresh_token"]).data

    kept = [claims_of(data["access_token"]) for data in (first, second)]
    assert kept[0]["amr"] == kept[1]["amr"] == ["legacy"]
    assert kept[0]["auth_time"] == kept[1]["auth_time"]


def test_trade_is_no_login(api, ann, token, received):
    ann.refresh_from_db()
    logged_in, before = received(signals.logged_in), ann.last_login
    refresh(api, token)
    ann.refresh_from_db()

    assert logged_in == []
    assert ann.last_login == before


def test_trade_is_recorded(api, token, events):
    refresh(api, token)

    [event] = events("auth.token.")
    assert event.action == "auth.token.traded"
    assert event.metadata["session"] == str(Session.objects.get().pk)


def test_traded_token_is_blocked_for_simplejwt_too(api, before, token):
    refresh(api, token)

    assert before.refresh(token).status == 401
    assert BlacklistedToken.objects.get().token.token == token


def test_token_is_traded_once(api, token):
    traded = refresh(api, token)

    assert refresh(api, token).error == REFUSED
    assert Session.objects.count() == 1
    # Within the leeway it may be a second tab: the session stays.
    assert refresh(api, traded.data["refresh_token"]).status == 200


def test_replay_within_the_grace_gets_the_same_refresh_token(api, token, configure, settings):
    configure(**settings.AUTHSERVICE, REFRESH_GRACE=30)
    first, second = refresh(api, token).data, refresh(api, token).data

    assert first["refresh_token"] == second["refresh_token"]


def test_replay_after_the_leeway_ends_the_session(api, ann, before, clock, trades, events):
    trades()
    token = before.obtain().body["refresh"]
    traded = refresh(api, token).data
    clock.forward(seconds=11)

    assert refresh(api, token).error == REFUSED
    assert refresh(api, traded["refresh_token"]).error == REFUSED
    assert api.get("me", token=traded["access_token"]).code == "INVALID_TOKEN"
    assert [event.action for event in events("auth.token.reuse")] == ["auth.token.reuse_detected"]


def test_replay_after_a_refresh_ends_the_session(api, token):
    traded = refresh(api, token).data
    current = refresh(api, traded["refresh_token"]).data

    refresh(api, token)

    assert refresh(api, current["refresh_token"]).error == REFUSED


def test_replay_after_the_time_of_trades_ends_the_session(api, ann, before, clock, trades):
    trades(UNTIL=datetime.now(UTC) + timedelta(seconds=30))
    token = before.obtain().body["refresh"]
    traded = refresh(api, token).data
    clock.forward(minutes=1)

    assert refresh(api, token).error == REFUSED
    assert refresh(api, traded["refresh_token"]).error == REFUSED


def test_logout_with_a_traded_token_ends_the_session(
    api, ann, before, client, clock, trades, events
):
    trades()
    token = before.obtain().body["refresh"]
    traded = refresh(api, token).data
    clock.forward(seconds=11)

    assert client.blacklist(token).status == 401
    assert refresh(api, traded["refresh_token"]).error == REFUSED
    assert api.get("me", token=traded["access_token"]).code == "INVALID_TOKEN"
    assert [event.action for event in events("auth.token.reuse")] == ["auth.token.reuse_detected"]


@pytest.mark.parametrize("grace", [0, 30])
def test_logout_with_a_token_that_was_just_traded_is_refused(
    api, client, token, configure, settings, grace
):
    configure(**settings.AUTHSERVICE, REFRESH_GRACE=grace)
    traded = refresh(api, token).data

    assert client.blacklist(token).status == 401
    assert refresh(api, traded["refresh_token"]).status == 200


def test_session_sorts_by_the_time_of_its_token(api, token):
    issued = datetime.now(UTC) - timedelta(days=5)
    OutstandingToken.objects.update(created_at=issued)
    refresh(api, token)
    traded = Session.objects.get().pk
    api.post("login", username="ann", password=PASSWORD)

    assert (traded.version, traded.variant) == (7, RFC_4122)
    assert traded.int >> 80 == int(issued.timestamp() * 1000)
    assert Session.objects.order_by("-pk").last().pk == traded


def test_sessions_of_tokens_of_one_moment_differ(api, ann, before):
    tokens = [before.obtain().body["refresh"] for _ in range(2)]
    OutstandingToken.objects.update(created_at=None, expires_at=datetime(2050, 1, 1, tzinfo=UTC))

    assert [refresh(api, token).status for token in tokens] == [200, 200]
    assert [refresh(api, token).status for token in tokens] == [401, 401]
    assert Session.objects.count() == 2


def test_token_whose_block_was_deleted_is_a_replay(api, ann, before, clock, trades):
    trades()
    token = before.obtain().body["refresh"]
    traded = refresh(api, token).data
    BlacklistedToken.objects.all().delete()

    assert refresh(api, token).error == REFUSED
    assert BlacklistedToken.objects.count() == Session.objects.count() == 1
    BlacklistedToken.objects.all().delete()
    clock.forward(seconds=11)
    assert refresh(api, token).error == REFUSED
    assert refresh(api, traded["refresh_token"]).error == REFUSED


def test_legacy_session_is_never_a_recent_login(api, token, configure, settings):
    configure(**settings.AUTHSERVICE, CORE={"REQUIRE_RECENT_PROOF": True})
    access = refresh(api, token).data["access_token"]

    body = {"phone": "+4915112345678"}
    assert api.request("PUT", "profile", body, token=access).code == "REAUTHENTICATION_REQUIRED"
    with_password = {**body, "password": PASSWORD}
    assert api.request("PUT", "profile", with_password, token=access).status == 200


def test_throttle_counts_trades_of_a_token(api, clock, token, configure, settings):
    configure(**settings.AUTHSERVICE, THROTTLE={"RATES": {"refresh": "3/d"}})

    answers = [refresh(api, token) for _ in range(4)]
    assert answers[-1].code == "TOO_MANY_REQUESTS"


def view(client, path, access):
    return client._client.get(path, HTTP_AUTHORIZATION=f"Bearer {access}")


def test_legacy_session_is_no_recent_login_in_views_of_the_project(api, client, token):
    legacy = refresh(api, token).data["access_token"]
    recent = api.post("login", username="ann", password=PASSWORD).data["access_token"]

    assert view(client, "/recent/", legacy).status_code == 403
    assert view(client, "/recent/", recent).status_code == 200
    assert view(client, "/mine/", legacy).status_code == 200


def test_old_access_token_is_accepted_by_its_own_class(client, ann):
    response = view(client, "/mine/", AccessToken.for_user(ann))

    assert json.loads(response.content) == {"user": str(ann.pk)}
