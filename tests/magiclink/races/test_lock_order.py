"""A scanner of mail opens at once the link that verifies an address and one that signs in by it."""

from functools import partial

from authservice.core.credentials import one_time
from authservice.core.models import Account
from authservice.core.recovery import verification
from tests.magiclink.magic import ANN
from tests.races.crowd import crossing
from tests.recovery.flows import Flows


def test_neither_waits_for_the_other_crosswise(crowd, api, magic, post, monkeypatch):
    api.sign_up()
    flows = Flows(api, post)
    verifying, signing_in = flows.email_token(), magic.mailed()
    # The one has the ticket and goes on to the account, the other goes on to all tickets.
    crossing(monkeypatch, (verification, "accept_email"), (one_time, "revoke_all_but_notices"))

    answers = crowd.race(
        [partial(flows.click, verifying, ANN), partial(magic.follow, signing_in.token)]
    )

    assert [answer.status for answer in answers] == [200, 200]
    assert Account.objects.get().verified_email_key
