"""On every login path, after every change meanwhile, tokens are returned only where they are due,
in JSON or in cookies, and never in the address of a redirect.

Every path requires the second factor. What was mailed ends with the address it was sent to, and
with the password. Sessions from before a requirement was set stay active.
"""

import pytest

from tests.core.login_matrix import states
from tests.core.login_matrix.login_paths import LOGIN_PATHS
from tests.core.login_matrix.world import TOKENS, credentials_in, outcome, tokens_in_address

NO_LINK, NO_CODE, NO_REFRESH = "INVALID_TOKEN", "INVALID_VERIFICATION_CODE", "INVALID_REFRESH_TOKEN"
LINKS = ("link", "link, redirected", "button", "button, redirected")
PASSWORDS = ("password", "password of a username")
MAGIC = (*LINKS, "code")
BY_PROVIDER = (
    "provider",
    "provider, redirected",
    "provider, by a form",
    "provider, by the address",
    "native app",
)
STEPS = ("second step", "first enrolment", "second step, passkey")
STEP_UPS = ("step-up", "step-up, code", "step-up, passkey")


def rows(default: str, *changes: tuple[tuple[str, ...], str]) -> dict[str, str]:
    """The outcome of each path: `default`, except for the paths that are named."""
    expected = {str(path): default for path in LOGIN_PATHS}
    for names, value in changes:
        expected |= dict.fromkeys(names, value)
    return expected


NEW_BY_PROVIDER = ("provider, signup",)
PROVIDERS = (*BY_PROVIDER, *NEW_BY_PROVIDER)
NEW, OLD, CODE = ("signup",), ("refresh",), ("code",)
INVITED = ("invitation", "org invitation")
INVITED_NEW = ("invitation, new user", "org invitation, new user")
CONTINUED = ("invitation, signed in", "org invitation, signed in")
# What continues the session of the user. It is valid until the session ends.
OWN_SESSION = ("switch", *STEP_UPS)
PASSKEY = ("passkey",)
EXPECTED = {
    "nothing": rows(TOKENS),
    "second_factor": rows(
        "2fa",
        ((*NEW, *INVITED_NEW, *NEW_BY_PROVIDER, *PASSKEY), TOKENS),
        (OLD, NO_REFRESH),
        (OWN_SESSION, NO_LINK),
        ((*STEPS, "step-up, code"), TOKENS),
        # The factor is set up meanwhile: the password alone no longer sets up another one.
        (("first enrolment",), NO_LINK),
    ),
    "factor_required": rows(
        "2fa_setup", ((*OLD, *CONTINUED, *OWN_SESSION, *STEPS, *PASSKEY), TOKENS)
    ),
    "inactive": rows(
        NO_LINK,
        ((*PASSWORDS, *INVITED, *CONTINUED, *BY_PROVIDER, *PASSKEY), "USER_NOT_ACTIVE"),
        ((*NEW, *INVITED_NEW, *NEW_BY_PROVIDER), TOKENS),
        (OLD, NO_REFRESH),
        (CODE, NO_CODE),
    ),
    "unverified": rows(
        "EMAIL_NOT_VERIFIED",
        (NEW, "nothing"),
        ((*OLD, *MAGIC, *PROVIDERS), TOKENS),
        ((*INVITED, *INVITED_NEW, *CONTINUED, *OWN_SESSION), TOKENS),
    ),
    "phone_required": rows(
        "PHONE_NOT_VERIFIED", (NEW, "VALIDATION_ERROR"), ((*OLD, *CONTINUED, *OWN_SESSION), TOKENS)
    ),
    # The old session of the user ends with the password, so it cannot accept an invitation either.
    "other_password": rows(
        NO_LINK,
        (PASSWORDS, "INVALID_CREDENTIALS"),
        ((*NEW, *PROVIDERS, *INVITED_NEW, *PASSKEY), TOKENS),
        ((*INVITED, *CONTINUED), "INVITATION_NOT_FOUND"),
        (OLD, NO_REFRESH),
        (CODE, NO_CODE),
    ),
    # Nobody has the invited address any more: a new account needs a name and a password.
    "other_address": rows(
        TOKENS,
        (("password",), "INVALID_CREDENTIALS"),
        (LINKS, NO_LINK),
        (CODE, NO_CODE),
        ((*INVITED, *CONTINUED), "VALIDATION_ERROR"),
    ),
    # Existing sessions stay valid.
    "refused_by_hook": rows("NOT_APPROVED", ((*OLD, *CONTINUED, *OWN_SESSION), TOKENS)),
    "signup_refused_by_hook": rows(
        TOKENS, ((*NEW, *INVITED_NEW, *NEW_BY_PROVIDER), "NOT_APPROVED")
    ),
    "throttled": rows(
        "TOO_MANY_REQUESTS",
        (PASSWORDS, "TOO_MANY_ATTEMPTS"),
        (CODE, NO_CODE),
        ((*STEPS, "step-up", "step-up, code"), "TOO_MANY_ATTEMPTS"),
    ),
}


@pytest.mark.parametrize("path", LOGIN_PATHS, ids=str)
@pytest.mark.parametrize("state", EXPECTED)
def test_login_path_returns_tokens_only_where_they_are_due(world, state, path):
    proof = path.prepare(world)
    getattr(states, state)(world, path, proof)
    before = world.sessions()

    answer = path.complete(world, proof)

    expected = EXPECTED[state][str(path)]
    assert outcome(answer) == expected
    assert bool(credentials_in(answer)) == (expected == TOKENS)
    assert not tokens_in_address(answer)
    assert world.sessions() <= before + (expected == TOKENS and path.begins_session)
