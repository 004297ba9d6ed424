"""Recovering an account ends the invitations to organizations that an intruder sent from it."""

import pytest

from tests.organization.inside.test_invitations import CAT, KIND, NOT_PENDING, invite, listed
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, Flows, prove

pytestmark = pytest.mark.django_db


def test_reset_cancels_invitations_of_the_last_three_days(api, ann, acme, post, accept, events):
    prove(ANN)
    invite(ann, acme, role="owner")  # by a thief, who has an access token
    link = post.token(KIND)
    flows = Flows(api, post)

    assert flows.reset(flows.reset_token()).status == 200

    assert accept(link, name="Cat", password=PASSWORD).error == NOT_PENDING
    ann.token = api.log_in(ANN, password=NEW)["access_token"]
    assert [row["status"] for row in listed(ann, acme)] == ["cancelled"]
    cancelled = events()[-1]
    assert (cancelled.action, cancelled.metadata["reason"], cancelled.metadata["email"]) == (
        *("org.invitation.cancelled", "recovery"),
        CAT,
    )
