"""Invalid SIGNING_KEYS are refused at start, with a message that names the setting."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from django.core.exceptions import ImproperlyConfigured

from authservice.core.tokens import signing
from tests.support.key_pairs import MAKE, entry, public_entry

KEY = MAKE["EdDSA"]()
INVALID = {
    "none is active": [entry("EdDSA", KEY, "next")],
    "two are active": [entry("EdDSA", KEY), entry("ES256", MAKE["ES256"]())],
    "one key twice": [entry("EdDSA", KEY), public_entry("EdDSA", KEY)],
    "one kid twice": [
        {**entry("EdDSA", KEY), "kid": "a"},
        {**public_entry("ES256", MAKE["ES256"]()), "kid": "a"},
    ],
    "an unknown state": [entry("EdDSA", KEY, "old")],
    "a symmetric algorithm": [{**entry("EdDSA", KEY), "alg": "HS256"}],
    "no algorithm": [{**entry("EdDSA", KEY), "alg": "none"}],
    "an active key without its private half": [public_entry("EdDSA", KEY, "active")],
    "a key of another kind": [{**entry("EdDSA", KEY), "alg": "RS256"}],
    "another curve for ES256": [entry("ES256", ec.generate_private_key(ec.SECP384R1()))],
    "another curve for EdDSA": [entry("EdDSA", ed448.Ed448PrivateKey.generate())],
    "RSA of 1024 bits": [entry("RS256", rsa.generate_private_key(65537, 1024))],
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_signing_keys_are_refused(configure, name):
    configure(SIGNING_KEYS=INVALID[name])

    with pytest.raises(ImproperlyConfigured, match="SIGNING_KEYS"):
        signing.configured()
