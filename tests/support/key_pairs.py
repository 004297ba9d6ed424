"""Key pairs for `SIGNING_KEYS`, one of each algorithm."""

from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

MAKE = {
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
    "Ed25519": ed25519.Ed25519PrivateKey.generate,
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
}


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def public_pem(key):
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def entry(alg, key, state="active"):
    return {"alg": alg, "private_key": private_pem(key), "state": state}


def public_entry(alg, key, state="retired"):
    return {"alg": alg, "public_key": public_pem(key.public_key()), "state": state}


@cache
def pair(alg):
    """Two private keys, created once: generating RSA keys is slow."""
    return [MAKE[alg]() for _ in range(2)]
