"""The session module fulfils the contract of every login module, with each store."""

import pytest

from tests.hosts.runs import holds
from tests.session.conftest import REDIS, needs_redis

# Routes that a login module affects; the host "session" runs the whole contract.
ROUTES = tuple(
    f"tests/contract/test_{name}.py"
    for name in (
        *("login", "logout", "refresh", "signup", "me"),
        *("authorization", "methods", "queries", "errors"),
    )
)
COOKIES = ("tests/csrf/test_token_cookies.py", "tests/csrf/test_binding.py")


# Each route with bad tokens and wrong methods: no session is found, so no store is called.
STORELESS = tuple(f"tests/contract/test_{name}.py" for name in ("authorization", "methods"))


@pytest.mark.parametrize("store", ["database", pytest.param("cache", marks=needs_redis)])
def test_session_module_fulfils_the_contract_of_login_modules(store):
    routes = ROUTES if store == "database" else [test for test in ROUTES if test not in STORELESS]
    holds(*routes, *COOKIES, host="session", SESSION_STORE=store, REDIS_URL=REDIS)
