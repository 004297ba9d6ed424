"""A mail scanner opens the verification link and the magic link of one user at the same time."""

from functools import partial

from authservice.core.credentials import one_time
from authservice.core.models import Account
from authservice.core.recovery import verification
from tests.magiclink.magic import ANN
from tests.races.crowd import synchronise
from tests.support.flows import Flows


def test_verification_link_and_magic_link_at_once_do_not_deadlock(
    crowd, api, magic, post, monkeypatch
):
    api.sign_up()
    flows = Flows(api, post)
    verifying, signing_in = flows.email_token(), magic.mailed()
    # One request holds its token and then locks the account, the other then locks all tokens.
    synchronise(monkeypatch, (verification, "accept_email"), (one_time, "revoke_all_but_notices"))

    answers = crowd.race(
        [partial(flows.click, verifying, ANN), partial(magic.follow, signing_in.token)]
    )

    assert [answer.status for answer in answers] == [200, 200]
    assert Account.objects.get().verified_email_key
