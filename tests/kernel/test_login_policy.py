"""What a login module says of the life of sign-ins, and what it is told of their ends."""

from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in
from django.db import transaction

from authservice import signals
from authservice.core.models import Session
from authservice.core.sessions import revocation, sessions
from tests.client import PASSWORD
from tests.people import the_user
from tests.plugs import fillers

pytestmark = pytest.mark.django_db


@contextmanager
def silenced():
    """Within, nobody writes `last_login`."""
    user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(update_last_login, dispatch_uid="update_last_login")


def ids(**which):
    return {str(pk) for pk in Session.objects.filter(**which).values_list("pk", flat=True)}


class TestLoginPolicy:
    """The life of sign-ins as an installed login module has it."""

    @pytest.fixture(autouse=True)
    def _anew(self):
        fillers.policy.__init__()

    def test_it_can_refuse_a_token_that_is_good(self, api, install):
        token = api.sign_up()["access_token"]
        install("Policy")
        fillers.policy.verdict = False

        assert api.get("me", token=token).error == (401, "INVALID_TOKEN")

    def test_it_is_asked_though_the_signature_is_trusted(self, api, install, configure):
        token = api.sign_up()["access_token"]
        configure(STATELESS={"CHECK": "signature"})
        install("Policy")
        fillers.policy.verdict = False

        assert api.post("logout", token=token).error == (401, "INVALID_TOKEN")

    def test_it_can_refuse_a_refresh_token_that_is_good(self, api, install):
        token = api.sign_up()["refresh_token"]
        install("Policy")
        fillers.policy.verdict = False

        answer = api.post("refresh", refresh_token=token)

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")

    def test_where_it_cannot_say_nothing_goes_on(self, api, install):
        tokens = api.sign_up()
        install("Policy")
        fillers.policy.away = True

        asked = api.get("me", token=tokens["access_token"])
        refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

        assert asked.error == refreshed.error == (503, "SERVICE_UNAVAILABLE")

    def test_it_says_how_long_a_sign_in_lives(self, api, install, clock):
        install("Policy")

        tokens = api.sign_up()

        began = Session.objects.get()
        assert began.idle_expires_at - began.created_at == timedelta(minutes=30)
        assert began.expires_at - began.created_at == timedelta(hours=2)
        clock.forward(minutes=29)
        api.post("refresh", refresh_token=tokens["refresh_token"])
        assert Session.objects.get().idle_expires_at - began.created_at == timedelta(minutes=59)

    def test_it_is_asked_before_a_sign_in_begins(self, api, install):
        api.sign_up()
        install("Policy")

        user = api.log_in()["user"]

        # Django's receiver has just written the user's row, and holds it.
        assert fillers.policy.told == [(user["id"], True)]

    def test_a_row_that_nobody_wrote_is_not_held(self, api, install):
        api.sign_up()
        install("Policy")

        with silenced():
            user = api.log_in()["user"]

        assert fillers.policy.told == [(user["id"], False)]


@pytest.mark.django_db(transaction=True)
class TestEnds:
    """A login policy hears of every sign-in that ends, and of no other."""

    @pytest.fixture(autouse=True)
    def _anew(self):
        fillers.policy.__init__()

    @pytest.fixture
    def ended(self, api, install):
        """`ended(deed)` gives what the policy is told of by the deed, which gets two sign-ins."""
        api.sign_up()
        several = [api.log_in(), api.log_in()]
        install("Policy")

        def tell(deed):
            fillers.policy.told.clear()
            deed(*several)
            return [{str(pk) for pk in told} for told in fillers.policy.told]

        return tell

    def test_a_logout(self, api, ended):
        told = ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert told == [ids(end_reason="logout")]

    def test_a_logout_that_came_too_late(self, api, ended):
        assert ended(lambda *_: sessions.end(uuid4(), "logout")) == []

    def test_a_replayed_token(self, api, clock, ended):
        def replay(first, second):
            for _ in range(2):
                api.post("refresh", refresh_token=first["refresh_token"])
                clock.forward(minutes=1)

        assert ended(replay) == [ids(end_reason="reuse")]

    def test_a_changed_password(self, api, ended):
        def change(first, second):
            body = {"old_password": PASSWORD, "new_password": "another plum tart"}
            api.request("PUT", "change-password", body, token=first["access_token"])

        assert ended(change) == [ids(end_reason="password changed")]
        assert len(ids(end_reason="password changed")) == 2  # the sign-up and the other login

    def test_a_revocation_of_all(self, ended):
        assert ended(lambda *_: revocation.revoke_users([the_user()])) == [ids()]

    def test_a_revocation_of_those_before_a_moment(self, ended):
        def revoke(*_):
            revocation.revoke_users(
                [the_user()], before=Session.objects.latest("created_at").created_at
            )

        told = ended(revoke)

        assert told == [ids(end_reason="revoked")]
        assert len(ids(ended_at=None)) == 1

    def test_nothing_that_was_undone(self, ended):
        def undo(*_):
            with suppress(ZeroDivisionError), transaction.atomic():
                revocation.revoke_users([the_user()])
                1 / 0  # noqa: B018

        assert ended(undo) == []

    def test_a_policy_that_fails_keeps_no_receiver_from_hearing(
        self, api, ended, heard, monkeypatch
    ):
        left = heard(signals.signed_out)
        monkeypatch.setattr(fillers.policy, "ended", lambda ids: 1 / 0)

        ended(lambda first, second: api.post("logout", token=first["access_token"]))

        assert len(left) == 1
