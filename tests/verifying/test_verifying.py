"""Another service verifies our access tokens with simplejwt and the published keys alone."""

import ast
import json
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from subprocess import PIPE

import jwt
import pytest

from tests.support import forging
from tests.support.key_pairs import MAKE, entry, pair
from tests.support.serving import served

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[2] / "docs/verifying.rst"
SERVICE = Path(__file__).with_name("service.py")
ISSUER = "https://accounts.example.com"


# simplejwt knows EdDSA by this name alone.
@pytest.fixture(params=[alg for alg in MAKE if alg != "Ed25519"])
def alg(request):
    return request.param


@pytest.fixture(scope="module")
def origin():
    """The URL of a running server."""
    with served(threads=False) as base:
        yield base.removesuffix("/auth/")


@pytest.fixture(autouse=True)
def _signed(configure, origin, alg):
    """The server signs with a key of the algorithm, and publishes the next one as a rotation does:
    services ask for keys rarely."""
    active, following = pair(alg)
    keys = [entry(alg, active), entry(alg, following, "next")]
    configure(API_URL=origin, SIGNING_KEYS=keys)


@pytest.fixture(scope="module")
def services(origin):
    """`services(alg)` is the service for an algorithm, a process of its own that starts once."""
    with ExitStack() as stack:

        @cache
        def start(alg):
            started = subprocess.Popen([sys.executable, "-I", SERVICE], stdin=PIPE, stdout=PIPE)
            send(stack.enter_context(started), recipe(origin, alg))
            return started

        yield start


def send(process, content):
    process.stdin.write(json.dumps(content).encode() + b"\n")
    process.stdin.flush()


@pytest.fixture
def verified(services, alg):
    """`verified(name=token)` is what the service answers to each of the tokens."""

    def ask(**tokens):
        service = services(alg)
        send(service, tokens)
        written = service.stdout.readline()
        assert written, "The service has ended; see its errors."
        found = json.loads(written)
        assert [name for name in found["modules"] if name.startswith("authservice")] == []
        return found["answers"]

    return ask


def recipe(issuer, alg):
    """The settings of the documented recipe, for this issuer and algorithm."""
    block = PAGE.read_text().split(".. code-block:: python\n")[1].split("\n\n``request.user")[0]
    text = textwrap.dedent(block).replace(ISSUER, issuer).replace("EdDSA", alg)
    assignments = ast.parse(text).body
    return {one.targets[0].id: ast.literal_eval(one.value) for one in assignments}


def signer(alg, key):
    return lambda message: jwt.get_algorithm_by_name(alg).sign(message, key)


def test_service_with_simplejwt_accepts_an_access_token(api, verified):
    tokens = api.sign_up()

    status, answer = verified(ours=tokens["access_token"])["ours"]

    assert status == 200, answer
    assert answer["user"] == tokens["user"]["id"]
    assert {"sid", "amr", "auth_time"} <= set(answer["claims"])


def test_service_with_simplejwt_accepts_a_token_of_a_retired_key(api, alg, configure, verified):
    token = api.sign_up()["access_token"]
    old, new = pair(alg)
    configure(SIGNING_KEYS=[entry(alg, old, "retired"), entry(alg, new)])
    later = api.log_in()["access_token"]

    answers = verified(old=token, new=later)

    assert {name: status for name, (status, _) in answers.items()} == {"old": 200, "new": 200}


def test_service_with_simplejwt_refuses_forged_and_expired_tokens(api, alg, verified):
    token = api.sign_up()["access_token"]
    other = signer(alg, pair(alg)[1])
    hmac = {"alg": "HS256"}
    public = jwt.get_algorithm_by_name(alg).to_jwk(pair(alg)[0].public_key()).encode()
    past = {"exp": int(time.time()) - 1}

    answers = verified(
        **{
            "resigned": forging.changed(token),
            "payload": forging.changed(token, body={"sub": "1"}, signer=_signature_of(token)),
            "expired": forging.changed(token, body=past),
            "another key": forging.changed(token, signer=other),
            "unknown key": forging.changed(token, head={"kid": "unknown"}, signer=other),
            "unsigned": forging.changed(token, head={"alg": "none"}, signer=lambda _: b""),
            "public key": forging.changed(token, head=hmac, signer=forging.hs256(public)),
            "another issuer": forging.changed(token, body={"iss": "https://example.org"}),
            "another audience": forging.changed(token, body={"aud": "another"}),
            "another type": forging.changed(token, body={"typ": "refresh"}),
        },
    )

    statuses = {name: status for name, (status, _) in answers.items()}
    # Signed again without a change it is accepted, so the others are refused for their change.
    assert statuses.pop("resigned") == 200
    assert set(statuses.values()) == {401}, statuses


def _signature_of(token):
    return lambda _: forging.unb64(token.rpartition(".")[2])
