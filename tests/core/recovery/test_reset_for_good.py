"""A reset ends sessions and links permanently, not only until the old hash is restored."""

import pytest

from tests.support.people import change, the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def restored(flows, ann):
    """`restored()` resets the password, and then restores the old hash as a backup would."""
    token, before = flows.reset_token(), the_user().password

    def restored():
        assert flows.reset(token).status == 200
        change(password=before)

    return restored


def test_session_from_before_a_reset_stays_ended(api, ann, restored):
    restored()

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    refreshed = api.post("refresh", refresh_token=ann["refresh_token"])
    assert refreshed.error == (401, "INVALID_REFRESH_TOKEN")


def test_reset_link_from_before_a_reset_stays_invalid(flows, restored):
    other = flows.reset_token()
    restored()

    assert flows.reset(other).error == (400, "INVALID_TOKEN")
