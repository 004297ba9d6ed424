"""What every login module promises, the session module promises too, with either store."""

import pytest

from tests.hosts.runs import holds
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


# Each route with bad tokens and wrong methods: no session is found, so no store is asked.
STORELESS = tuple(f"tests/contract/test_{name}.py" for name in ("authorization", "methods"))


@pytest.mark.parametrize("store", ["database", "cache"])
def test_the_contract_of_login_modules_holds(store):
    routes = OURS if store == "database" else [test for test in OURS if test not in STORELESS]
    holds(*routes, *COOKIES, host="session", SESSION_STORE=store, REDIS_URL=REDIS)
