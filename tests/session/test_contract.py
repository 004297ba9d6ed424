"""What every login module promises, the session module promises too, with either store."""

import pytest

from tests.hosts.runs import python
from tests.session.conftest import REDIS

# Routes of which a login module has a say; the host "session" runs the whole of the contract.
OURS = tuple(
    f"tests/contract/test_{name}.py"
    for name in (
        *("login", "logout", "refresh", "signup", "me"),
        *("authorization", "methods", "queries", "errors"),
    )
)
COOKIES = ("tests/csrf/test_token_cookies.py", "tests/csrf/test_binding.py")


@pytest.mark.parametrize("store", ["database", "cache"])
def test_the_contract_of_login_modules_holds(store):
    run = python(
        *("-m", "pytest", *OURS, *COOKIES, "-q", "--tb=short", "-p", "no:cacheprovider"),
        host="session",
        SESSION_STORE=store,
        REDIS_URL=REDIS,
    )

    assert run.returncode == 0, run.stdout
