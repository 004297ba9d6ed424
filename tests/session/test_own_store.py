"""A store of the host's own, by its dotted path."""

import pytest

from authservice.core.models import Session
from tests.contract.shapes import is_refusal
from tests.session import stores
from tests.session.asking import AWAY, ENDS, REFUSED, me, refresh

pytestmark = pytest.mark.django_db(transaction=True)


class TestOwn:
    """A host's own store, by its dotted path."""

    @pytest.fixture
    def own(self, sessions):
        stores.Register.told.clear()
        stores.Register.out.clear()
        return lambda name: sessions(STORE=f"tests.session.stores.{name}")

    def test_it_is_told_of_what_begins_and_ends(self, api, own):
        own("Register")
        tokens = [api.sign_up(), api.log_in(), api.log_in()]
        first, second, third = Session.objects.order_by("created_at").values_list("pk", flat=True)

        api.request("DELETE", f"sessions/{second}", token=tokens[0]["access_token"])
        ENDS["logout"](api, tokens[0])

        began = [("begin", pk) for pk in (first, second, third)]
        assert stores.Register.told == [*began, ("end", second), ("end", first)]

    def test_it_is_told_of_use_every_five_minutes(self, api, clock, own):
        own("Register")
        tokens = api.sign_up()
        stores.Register.told.clear()
        for _ in range(3):
            clock.forward(minutes=3)
            me(api, tokens)

        assert stores.Register.told == [("touch", Session.objects.get().pk)]

    def test_whom_it_does_not_know_is_refused(self, api, own):
        tokens = api.sign_up()
        own("Register")
        stores.Register.out.add(Session.objects.get().pk)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_it_revives_nobody(self, api, own):
        own("Register")
        tokens = api.sign_up()
        Session.objects.update(ended_at=Session.objects.get().created_at)

        assert me(api, tokens).error == REFUSED

    def test_its_list_is_the_list(self, api, own):
        own("Register")
        api.sign_up()
        oldest = Session.objects.get().pk
        tokens = api.log_in()
        stores.Register.out.add(oldest)

        assert len(api.get("sessions", token=tokens["access_token"]).data) == 1
        answer = api.get(f"sessions/{oldest}", token=tokens["access_token"])
        assert answer.error == (404, "SESSION_NOT_FOUND")

    def test_whatever_it_fails_with_is_the_same_refusal(self, api, own):
        tokens = api.sign_up()
        own("Broken")

        assert is_refusal(me(api, tokens), *AWAY)
        assert is_refusal(refresh(api, tokens), *AWAY)

    def test_where_it_cannot_be_told_the_rows_say_so(self, api, clock, own):
        tokens = api.sign_up()
        own("Deaf")
        clock.forward(minutes=6)
        tokens = api.log_in()
        clock.forward(minutes=6)

        assert me(api, tokens).status == 200
        assert ENDS["logout"](api, tokens).status == 200
        assert me(api, tokens).error == REFUSED
