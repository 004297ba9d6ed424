"""What `test_browser.py` tries with each answer of Chromium, tried with those of the key in
software: every change is refused by both verifiers, or by this service alone where the table says
so."""

import pytest

from tests.passkeys.authenticator import UP, UV, Authenticator
from tests.passkeys.both_verifiers import CHANGES, ONLY_WE_REFUSE, PARTS, Verifiers
from tests.passkeys.test_second_verifier import OPTIONS

ORIGIN = "http://localhost:8000"


@pytest.fixture
def verifiers(passkeys):
    passkeys(RP_ID="localhost", ORIGINS=[ORIGIN])
    return Verifiers("localhost", ORIGIN)


def made_by(device):
    options = {**OPTIONS, "rp": {"id": "localhost"}, "rpId": "localhost"}
    return [
        {"kind": "create", "answer": device.create(options)},
        {"kind": "get", "answer": device.get(options)},
    ]


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
def test_both_verifiers_refuse_every_change(verifiers, algorithm):
    tried = verifiers.agree(made_by(Authenticator(algorithm, origin=ORIGIN)))

    assert tried == {
        (kind, name) for kind in PARTS for name, (part, _) in CHANGES.items() if part in PARTS[kind]
    }
    assert set(ONLY_WE_REFUSE) <= set(CHANGES)


def test_both_verifiers_accept_a_key_that_does_not_verify_its_user(verifiers):
    tried = verifiers.agree(made_by(Authenticator(flags=UP, origin=ORIGIN)))

    assert ("create", "verification at a new passkey") not in tried
    assert verifiers.agree(made_by(Authenticator(flags=UP | UV, origin=ORIGIN)))
