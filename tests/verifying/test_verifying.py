"""Another service verifies our access tokens with simplejwt and the published keys alone."""

import ast
import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

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
ALGS = [alg for alg in MAKE if alg != "Ed25519"]


def of(*quick):
    """The algorithms; slow are all but `quick`, since each starts the service once more."""
    marked = [alg if alg in quick else pytest.param(alg, marks=pytest.mark.slow) for alg in ALGS]
    return pytest.mark.parametrize("alg", marked)


@pytest.fixture
def issuer(configure, alg):
    """The URL of a running server that signs with a key of the algorithm."""
    with served(threads=False) as base:
        origin = base.removesuffix("/auth/")
        configure(API_URL=origin, SIGNING_KEYS=[entry(alg, pair(alg)[0])])
        yield origin


def recipe(issuer, alg):
    """The settings of the documented recipe, for this issuer and algorithm."""
    block = PAGE.read_text().split(".. code-block:: python\n")[1].split("\n\n``request.user")[0]
    text = textwrap.dedent(block).replace(ISSUER, issuer).replace("EdDSA", alg)
    assignments = ast.parse(text).body
    return {one.targets[0].id: ast.literal_eval(one.value) for one in assignments}


def verified(issuer, alg, tokens):
    """What the service, in a process of its own, answers to each of the tokens."""
    ran = subprocess.run(
        [sys.executable, "-I", SERVICE],
        input=json.dumps({"settings": recipe(issuer, alg), "tokens": tokens}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    written = json.loads(ran.stdout)
    assert [name for name in written["modules"] if name.startswith("authservice")] == []
    return written["answers"]


def signer(alg, key):
    return lambda message: jwt.get_algorithm_by_name(alg).sign(message, key)


@of(*ALGS)
def test_service_with_simplejwt_accepts_an_access_token(api, issuer, alg):
    tokens = api.sign_up()

    status, answer = verified(issuer, alg, {"ours": tokens["access_token"]})["ours"]

    assert status == 200, answer
    assert answer["user"] == tokens["user"]["id"]
    assert {"sid", "amr", "auth_time"} <= set(answer["claims"])


# The state of a key is the same for each algorithm.
@of("EdDSA")
def test_service_with_simplejwt_accepts_a_token_of_a_retired_key(api, issuer, alg, configure):
    token = api.sign_up()["access_token"]
    old, new = pair(alg)
    configure(SIGNING_KEYS=[entry(alg, old, "retired"), entry(alg, new)])
    later = api.log_in()["access_token"]

    answers = verified(issuer, alg, {"old": token, "new": later})

    assert {name: status for name, (status, _) in answers.items()} == {"old": 200, "new": 200}


# RSA, whose public key is what a forger would take for a secret, and one of the two curves.
@of("RS256", "EdDSA")
def test_service_with_simplejwt_refuses_forged_and_expired_tokens(api, issuer, alg):
    token = api.sign_up()["access_token"]
    other = signer(alg, pair(alg)[1])
    hmac = {"alg": "HS256"}
    public = jwt.get_algorithm_by_name(alg).to_jwk(pair(alg)[0].public_key()).encode()
    past = {"exp": int(time.time()) - 1}

    answers = verified(
        issuer,
        alg,
        {
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
