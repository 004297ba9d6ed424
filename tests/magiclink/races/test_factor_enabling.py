"""A magic link used while a second factor is enabled is challenged, or its tokens are not valid."""

from functools import partial

import pytest

from tests.races.test_factor_enabling import alive
from tests.support.flows import prove
from tests.twofactor.people import Person


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the clock, so TOTP codes change only when a test moves it."""


def test_magic_link_beside_enabling_leaves_no_session_without_the_factor(crowd, api, magic, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        prove(ann.email)
        pair = magic.mailed(ann.email)
        ann.set_up()
        follow = partial(magic.follow, pair.token)
        enable = partial(ann.post, "2fa/verify", code=ann.code())

        followed, enabled = crowd.race([follow, enable])

        assert (followed.status, enabled.status) == (200, 200)
        assert alive(api, [followed]) == []
