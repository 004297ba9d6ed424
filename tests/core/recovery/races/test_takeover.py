"""A request that is processed while access is revoked changes nothing afterwards."""

from functools import partial

from django.db import connection

from authservice.core.messages import kinds
from tests.support.client import PASSWORD
from tests.support.flows import NEW, account, prove

THREADS = 5


def test_profile_change_beside_a_reset_never_sets_a_number(crowd, api, flows):
    """An attacker sets a number with 5 threads while the owner resets the password by e-mail."""
    for number in range(40 if connection.vendor == "postgresql" else 5):
        email = f"ann{number}@example.com"
        attacker = api.sign_up(email)["access_token"]
        body = {"phone": f"+4930123{number:03d}"}
        put = partial(api.request, "PUT", "profile", body, token=attacker)
        token = flows.reset_token(email)
        reset = {"token": token, "email": email, "new_password": NEW}

        answers = crowd.race(
            [partial(api.request, "POST", "reset-password", reset), *[put] * THREADS]
        )

        assert answers[0].status == 200, answers[0].body
        assert {a.status if a.status == 200 else a.code for a in answers[1:]} <= {
            200,
            "INVALID_TOKEN",
        }
        assert account(email).phone_number == ""
        assert put().error == (401, "INVALID_TOKEN")


def test_password_change_beside_a_reset_never_sets_the_password(crowd, api, flows):
    for number in range(20 if connection.vendor == "postgresql" else 5):
        email = f"ann{number}@example.com"
        attacker = api.sign_up(email)["access_token"]
        body = {"old_password": PASSWORD, "new_password": "thief picked 9 locks"}
        change = partial(api.request, "PUT", "change-password", body, token=attacker)
        reset = {"token": flows.reset_token(email), "email": email, "new_password": NEW}

        first, second = crowd.race([partial(api.request, "POST", "reset-password", reset), change])

        # One of the two locks the user's row first, and the other one then sees its changes.
        assert (first.status == 200) != (second.status == 200)
        password = NEW if first.status == 200 else "thief picked 9 locks"
        assert api.post("login", email=email, password=password).status == 200


def test_security_link_posted_concurrently_acts_once(crowd, api, flows, post, rounds):
    for number in rounds:
        email = f"ann{number}@example.com"
        token = api.sign_up(email)["access_token"]
        prove(email)
        api.request("PUT", "profile", {"phone": f"+4930123{number:03d}"}, token=token)
        body = {"token": post.token(kinds.PHONE_CHANGED)}
        post.jobs.clear()

        answers = crowd.race([partial(api.request, "POST", "account/secure", body)] * 16)

        assert {answer.status for answer in answers} == {200}
        assert post.kinds() == [kinds.ACCOUNT_SECURED]
        assert account(email).phone_number == ""
