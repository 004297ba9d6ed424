"""The owner of a mailbox cannot both confirm and deny a sign-up by concurrent requests."""

from functools import partial

from authservice.core.messages import kinds
from tests.races.crowd import tally
from tests.support.client import PASSWORD
from tests.support.flows import account

ROUNDS = 15
INVALID = "INVALID_VERIFICATION_TOKEN"


def test_concurrent_confirmation_and_denial_succeed_only_once(crowd, api, post):
    for number in range(ROUNDS):
        email = f"ann{number}@example.com"
        api.sign_up(email)
        body = {"email": email, "token": post.token(kinds.VERIFY_EMAIL)}

        confirmed, denied = crowd.race(
            partial(api.request, "POST", "verify-email", {**body, "decision": decision})
            for decision in ("confirm", "deny")
        )

        assert tally([confirmed, denied]) == {200: 1, INVALID: 1}
        stored, won = account(email), confirmed.status == 200
        assert bool(stored.verified_email_key) is won
        assert bool(stored.proven_email_key) is won
        assert stored.user.has_usable_password() is won
        logged_in = api.post("login", email=email, password=PASSWORD)
        assert (logged_in.status == 200) is won
