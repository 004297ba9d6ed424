"""The session module fulfils the contract of every login module, with each store."""

import pytest

from tests.hosts.runs import holds
from tests.session.conftest import REDIS, needs_redis

# Routes that a login module affects; the slow host "session" runs the whole contract.
ROUTES = tuple(
    f"tests/contract/test_{name}.py"
    for name in ("login", "logout", "refresh", "signup", "me", "queries", "errors")
)
COOKIES = ("tests/csrf/test_token_cookies.py", "tests/csrf/test_binding.py")


@pytest.mark.parametrize("store", ["database", pytest.param("cache", marks=needs_redis)])
def test_session_module_fulfils_the_contract_of_login_modules(store):
    holds(*ROUTES, *COOKIES, host="session", SESSION_STORE=store, REDIS_URL=REDIS)
