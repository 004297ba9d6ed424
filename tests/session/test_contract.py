"""The session module fulfils the contract of every login module, with each store."""

import pytest

from tests.hosts.runs import SQLITE, holds
from tests.session.conftest import REDIS, needs_redis

# Routes that a login module affects; the slow host "session" runs the whole contract.
ROUTES = tuple(
    f"tests/contract/test_{name}.py"
    for name in ("login", "logout", "refresh", "signup", "me", "queries", "errors")
)
COOKIES = ("tests/csrf/test_token_cookies.py", "tests/csrf/test_binding.py")


# Slow with the second store: with it, every case is tried on SQLite below, and a sample on the
# database of the run here.
@pytest.mark.parametrize(
    "store", ["database", pytest.param("cache", marks=[needs_redis, pytest.mark.slow])]
)
def test_session_module_fulfils_the_contract_of_login_modules(store):
    variables = {"SESSION_STORE": store, "REDIS_URL": REDIS}
    holds(*ROUTES, *COOKIES, host="session", sample=True, migrate=False, **variables)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["database", pytest.param("cache", marks=needs_redis)])
def test_every_case_of_the_contract(store):
    variables = {**SQLITE, "SESSION_STORE": store, "REDIS_URL": REDIS}
    holds(*ROUTES, *COOKIES, host="session", **variables)
