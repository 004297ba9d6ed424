"""In any order of events at most one successor is valid, and late reuse revokes the session."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
import time_machine
from django.core.cache import caches
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.support.client import Api
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

LEEWAY = 10
STEPS = st.lists(
    st.one_of(
        st.just(("refresh", 0)),
        st.tuples(st.just("replay"), st.integers(1, 5)),
        st.tuples(st.just("wait"), st.sampled_from([1, 4, 9, 10, 11, 60])),
        st.just(("logout", 0)),
    ),
    min_size=1,
    max_size=12,
)
_numbers = count()


class Family:
    """A model of the expected state of the tokens of one session, compared with the API."""

    def __init__(self, traveller, grace):
        self.api, self.traveller, self.grace = Api(), traveller, grace
        email = f"ann{next(_numbers)}@example.com"
        make_user(email)
        first = self.api.log_in(email)
        self.tokens, self.access = [first["refresh_token"]], first["access_token"]
        self.active, self.age = True, 0

    def refresh(self, _):
        answer = self._use(self.tokens[-1])
        assert (answer.status == 200) == self.active
        if self.active:
            assert answer.data["refresh_token"] not in self.tokens
            self.tokens.append(answer.data["refresh_token"])
            self.access, self.age = answer.data["access_token"], 0

    def replay(self, generations):
        if generations >= len(self.tokens):
            return
        answer = self._use(self.tokens[-1 - generations])
        direct = generations == 1
        if self.active and direct and self.age <= self.grace:
            assert answer.data["refresh_token"] == self.tokens[-1]
            return
        assert answer.error == (401, "INVALID_REFRESH_TOKEN")
        self.active = self.active and direct and self.age <= LEEWAY

    def wait(self, seconds):
        self.traveller.shift(timedelta(seconds=seconds))
        self.age += seconds

    def logout(self, _):
        answer = self.api.post("logout", token=self.access)
        assert (answer.status == 200) == self.active
        self.active = False

    def check(self):
        """The newest token is valid exactly if the session is active; every other is refused."""
        assert (self._use(self.tokens[-1]).status == 200) == self.active
        assert all(self._use(token).status == 401 for token in self.tokens[:-1])

    def _use(self, token):
        return self.api.post("refresh", refresh_token=token)


@pytest.mark.parametrize("grace", [-1, 4], ids=["no grace", "4 s of grace"])
@hypothesis_settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_rotation_in_any_order_keeps_at_most_one_successor_valid(configure, grace, steps):
    configure(THROTTLE={"ENABLED": False}, REFRESH_GRACE=max(grace, 0))
    caches["default"].clear()
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as traveller:
        family = Family(traveller, grace)
        for step, amount in steps:
            getattr(family, step)(amount)
        configure(THROTTLE={"ENABLED": False}, REFRESH_GRACE=0)
        family.check()
