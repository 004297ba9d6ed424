"""A login module sets the lifetimes of sessions and is notified when they end."""

from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from authservice import signals
from authservice.core.models import Session
from authservice.core.sessions import revocation, sessions
from tests.support.client import PASSWORD
from tests.support.modules import fillers
from tests.support.needs import stateless_login
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


def ids(**which):
    return {str(pk) for pk in Session.objects.filter(**which).values_list("pk", flat=True)}


class TestLoginPolicy:
    """The lifetimes of sessions under the policy of an installed login module."""

    @pytest.fixture(autouse=True)
    def _reset(self):
        fillers.policy.__init__()

    def test_policy_can_refuse_a_valid_access_token(self, api, install):
        token = api.sign_up()["access_token"]
        install("Policy")
        fillers.policy.verdict = False

        assert api.get("me", token=token).error == (401, "INVALID_TOKEN")

    @stateless_login
    def test_policy_is_applied_with_the_signature_check(self, api, install, configure):
        token = api.sign_up()["access_token"]
        configure(STATELESS={"CHECK": "signature"})
        install("Policy")
        fillers.policy.verdict = False

        assert api.post("logout", token=token).error == (401, "INVALID_TOKEN")

    def test_policy_can_refuse_a_valid_refresh_token(self, api, install):
        token = api.sign_up()["refresh_token"]
        install("Policy")
        fillers.policy.verdict = False

        answer = api.post("refresh", refresh_token=token)

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")

    def test_policy_that_is_unavailable_makes_requests_fail_with_503(self, api, install):
        tokens = api.sign_up()
        install("Policy")
        fillers.policy.away = True

        shown = api.get("me", token=tokens["access_token"])
        refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

        assert shown.error == refreshed.error == (503, "SERVICE_UNAVAILABLE")

    def test_policy_sets_the_lifetimes_of_a_session(self, api, install, clock):
        clock.stand_still()  # the lifetimes are compared exactly
        install("Policy")

        tokens = api.sign_up()

        began = Session.objects.get()
        assert began.idle_expires_at - began.created_at == timedelta(minutes=30)
        assert began.expires_at - began.created_at == timedelta(hours=2)
        clock.forward(minutes=29)
        api.post("refresh", refresh_token=tokens["refresh_token"])
        assert Session.objects.get().idle_expires_at - began.created_at == timedelta(minutes=59)

    def test_policy_is_called_before_a_session_starts(self, api, install):
        api.sign_up()
        install("Policy")

        user = api.log_in()["user"]

        assert fillers.policy.calls == [user["id"]]


@pytest.mark.django_db(transaction=True)
class TestEnds:
    """A login policy is notified of every session that ends, and of no other."""

    @pytest.fixture(autouse=True)
    def _reset(self):
        fillers.policy.__init__()

    @pytest.fixture
    def ended(self, api, install):
        """`ended(action)` calls it with two sessions and returns the ids that the policy got."""
        api.sign_up()
        several = [api.log_in(), api.log_in()]
        install("Policy")

        def ended_by(action):
            fillers.policy.calls.clear()
            action(*several)
            return [{str(pk) for pk in batch} for batch in fillers.policy.calls]

        return ended_by

    def test_policy_is_notified_of_a_logout(self, api, ended):
        received = ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert received == [ids(end_reason="logout")]

    def test_policy_is_not_notified_of_a_logout_of_an_unknown_session(self, api, ended):
        assert ended(lambda *_: sessions.end(uuid4(), "logout")) == []

    def test_policy_is_notified_of_a_reused_refresh_token(self, api, clock, ended):
        def replay(first, second):
            for _ in range(2):
                api.post("refresh", refresh_token=first["refresh_token"])
                clock.forward(minutes=1)

        assert ended(replay) == [ids(end_reason="reuse")]

    def test_policy_is_notified_of_a_changed_password(self, api, ended):
        def change(first, second):
            body = {"old_password": PASSWORD, "new_password": "another plum tart"}
            api.request("PUT", "change-password", body, token=first["access_token"])

        assert ended(change) == [ids(end_reason="password changed")]
        assert len(ids(end_reason="password changed")) == 2  # the sign-up and the other login

    def test_policy_is_notified_of_a_revocation_of_all_sessions(self, ended):
        assert ended(lambda *_: revocation.revoke_users([the_user()])) == [ids()]

    def test_policy_is_notified_of_a_revocation_of_sessions_before_a_time(self, ended):
        def revoke(*_):
            revocation.revoke_users(
                [the_user()], before=Session.objects.latest("created_at").created_at
            )

        received = ended(revoke)

        assert received == [ids(end_reason="revoked")]
        assert len(ids(ended_at=None)) == 1

    def test_policy_is_not_notified_of_a_revocation_rolled_back(self, ended):
        def undo(*_):
            with suppress(ZeroDivisionError), transaction.atomic():
                revocation.revoke_users([the_user()])
                1 / 0  # noqa: B018

        assert ended(undo) == []

    def test_policy_that_raises_does_not_prevent_signals(self, api, ended, received, monkeypatch):
        events = received(signals.logged_out)
        monkeypatch.setattr(fillers.policy, "ended", lambda ids: 1 / 0)

        ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert len(events) == 1
