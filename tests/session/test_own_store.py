"""A session store of the host, configured by its dotted path."""

import pytest

from authservice.core.models import Session
from tests.contract.shapes import is_refusal
from tests.session import stores
from tests.session.session_requests import ENDS, REFUSED, UNAVAILABLE, me, refresh

pytestmark = pytest.mark.django_db(transaction=True)


class TestOwn:
    """A session store of the host, configured by its dotted path."""

    @pytest.fixture
    def own(self, sessions):
        stores.Register.calls.clear()
        stores.Register.refused.clear()
        return lambda name: sessions(STORE=f"tests.session.stores.{name}")

    def test_own_store_is_notified_of_new_and_ended_sessions(self, api, own):
        own("Register")
        tokens = [api.sign_up(), api.log_in(), api.log_in()]
        first, second, third = Session.objects.order_by("created_at").values_list("pk", flat=True)

        api.request("DELETE", f"sessions/{second}", token=tokens[0]["access_token"])
        ENDS["logout"](api, tokens[0])

        began = [("begin", pk) for pk in (first, second, third)]
        assert stores.Register.calls == [*began, ("end", second), ("end", first)]

    def test_own_store_is_notified_of_use_every_five_minutes(self, api, clock, own):
        own("Register")
        tokens = api.sign_up()
        stores.Register.calls.clear()
        for _ in range(3):
            clock.forward(minutes=3)
            me(api, tokens)

        assert stores.Register.calls == [("touch", Session.objects.get().pk)]

    def test_own_store_can_refuse_a_session(self, api, own):
        tokens = api.sign_up()
        own("Register")
        stores.Register.refused.add(Session.objects.get().pk)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_own_store_cannot_reactivate_an_ended_session(self, api, own):
        own("Register")
        tokens = api.sign_up()
        Session.objects.update(ended_at=Session.objects.get().created_at)

        assert me(api, tokens).error == REFUSED

    def test_own_store_decides_which_sessions_are_listed(self, api, own):
        own("Register")
        api.sign_up()
        oldest = Session.objects.get().pk
        tokens = api.log_in()
        stores.Register.refused.add(oldest)

        assert len(api.get("sessions", token=tokens["access_token"]).data) == 1
        answer = api.get(f"sessions/{oldest}", token=tokens["access_token"])
        assert answer.error == (404, "SESSION_NOT_FOUND")

    def test_own_store_that_raises_any_error_makes_requests_fail_with_503(self, api, own):
        tokens = api.sign_up()
        own("Broken")

        assert is_refusal(me(api, tokens), *UNAVAILABLE)
        assert is_refusal(refresh(api, tokens), *UNAVAILABLE)

    def test_own_store_that_fails_on_writes_leaves_the_decision_to_the_rows(self, api, clock, own):
        tokens = api.sign_up()
        own("BrokenWrites")
        clock.forward(minutes=6)
        tokens = api.log_in()
        clock.forward(minutes=6)

        assert me(api, tokens).status == 200
        assert ENDS["logout"](api, tokens).status == 200
        assert me(api, tokens).error == REFUSED
