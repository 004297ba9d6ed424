"""SIGNING_KEYS that could not serve are refused at start, in words that name the key."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from django.core.exceptions import ImproperlyConfigured

from authservice.core.tokens import signing_keys
from tests.core.test_signing_keys import MAKE, entry, own

KEY = MAKE["EdDSA"]()
UNFIT = {
    "none is active": [entry("EdDSA", KEY, "next")],
    "two are active": [entry("EdDSA", KEY), entry("ES256", MAKE["ES256"]())],
    "one key twice": [entry("EdDSA", KEY), own("EdDSA", KEY)],
    "one kid twice": [
        {**entry("EdDSA", KEY), "kid": "a"},
        {**own("ES256", MAKE["ES256"]()), "kid": "a"},
    ],
    "a state that is none": [entry("EdDSA", KEY, "old")],
    "a symmetric algorithm": [{**entry("EdDSA", KEY), "alg": "HS256"}],
    "no algorithm": [{**entry("EdDSA", KEY), "alg": "none"}],
    "an active key without its private half": [own("EdDSA", KEY, "active")],
    "a key of another kind": [{**entry("EdDSA", KEY), "alg": "RS256"}],
    "another curve for ES256": [entry("ES256", ec.generate_private_key(ec.SECP384R1()))],
    "another curve for EdDSA": [entry("EdDSA", ed448.Ed448PrivateKey.generate())],
    "RSA of 1024 bits": [entry("RS256", rsa.generate_private_key(65537, 1024))],
}


@pytest.mark.parametrize("name", UNFIT)
def test_it_is_refused(configure, name):
    configure(SIGNING_KEYS=UNFIT[name])

    with pytest.raises(ImproperlyConfigured, match="SIGNING_KEYS"):
        signing_keys.configured()
