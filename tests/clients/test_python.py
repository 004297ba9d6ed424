"""The recipe for httpx, against the example project."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from example_project.clients.python.authservice_auth import AuthserviceAuth, SignedOut
from tests.clients.people import PASSWORD, address, expired
from tests.support.key_pairs import entry, pair

pytestmark = pytest.mark.slow


@pytest.fixture
def auth(running):
    auth = AuthserviceAuth(running.bearer.url)
    auth.sign_in("signup", email=address(), password=PASSWORD)
    return auth


@pytest.fixture
def refreshes(running):
    before = len(running.bearer.requests("POST /auth/refresh"))
    return lambda: len(running.bearer.requests("POST /auth/refresh")) - before


def expire(auth):
    auth.tokens = {**auth.tokens, "access_token": expired(auth.tokens["access_token"])}


def test_ten_threads_make_one_refresh(auth, refreshes):
    expire(auth)
    with httpx.Client(auth=auth) as client, ThreadPoolExecutor(10) as threads:
        called = [threads.submit(client.get, f"{auth.url}/me") for _ in range(10)]

    assert [one.result().status_code for one in called] == [200] * 10
    assert refreshes() == 1


def test_ten_tasks_make_one_refresh(auth, refreshes):
    expire(auth)

    async def call():
        async with httpx.AsyncClient(auth=auth) as client:
            return await asyncio.gather(*(client.get(f"{auth.url}/me") for _ in range(10)))

    assert [one.status_code for one in asyncio.run(call())] == [200] * 10
    assert refreshes() == 1


def test_body_is_sent_again_after_the_refresh(auth):
    expire(auth)

    answer = httpx.patch(f"{auth.url}/profile", json={"name": "Ann"}, auth=auth)

    assert answer.json()["data"]["name"] == "Ann"


def test_replayed_refresh_token_ends_in_signed_out(auth):
    stolen = auth.tokens["refresh_token"]
    for _ in range(2):  # the thief
        answer = httpx.post(f"{auth.url}/refresh", json={"refresh_token": stolen})
        stolen = answer.json()["data"]["refresh_token"]
    expire(auth)

    with pytest.raises(SignedOut):
        httpx.get(f"{auth.url}/me", auth=auth)

    assert auth.tokens is None


def test_token_is_not_sent_to_another_host(auth):
    with pytest.raises(ValueError, match="may not get tokens"):
        httpx.get("http://127.0.0.1:9/", auth=auth)


def test_refused_login_raises_and_keeps_no_tokens(running):
    auth = AuthserviceAuth(running.bearer.url)

    with pytest.raises(httpx.HTTPStatusError, match="401"):
        auth.log_in(email=address(), password=PASSWORD)

    assert auth.tokens is None


@pytest.mark.django_db(transaction=True)
def test_user_stays_signed_in_after_a_change_of_the_signing_key(live_server, configure):
    configure(API_URL=live_server.url)
    auth = AuthserviceAuth(f"{live_server.url}/auth")
    auth.sign_in("signup", email=address(), password=PASSWORD)

    for key in pair("EdDSA"):  # from the derived key to one, which another replaces then
        configure(SIGNING_KEYS=[entry("EdDSA", key)], API_URL=live_server.url)

        assert httpx.get(f"{auth.url}/me", auth=auth).status_code == 200
