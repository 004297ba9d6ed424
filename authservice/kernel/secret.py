"""Secrets: a wrapper that no error report shows, what a person means by a typed code, and keyed
digests, encrypted (sealed) values and signers, with keys derived from `SECRET_KEY`.

Every use names a purpose, and each purpose has its own key (HMAC-SHA-256 of the purpose under the
secret, as in the extract-and-expand pattern of RFC 5869), so a value issued for one purpose is not
valid for another. Only `SECRET_KEY` signs and seals; `SECRET_KEY_FALLBACKS` verify and unseal. To
rotate, add the old key to the fallbacks and remove it once the values made with it have expired.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import unicodedata
from typing import Any, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.signing import Signer, TimestampSigner

from authservice.kernel import settings as kernel_settings


class Secret:
    """`reveal()` returns the text. Two secrets compare in constant time; an empty one is false."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__text.encode(), other.reveal().encode())

    # A hash would let caches keep secrets as their keys.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("A secret cannot be pickled or copied.")


# Unicode categories of white space, hyphens and dashes, and of marks that nobody sees, such as
# those of the direction of text.
_IGNORED = {"Zs", "Zl", "Zp", "Pd", "Cf"}
_ALSO_IGNORED = "\t\n\v\f\r\x85\u2212\u02d7\u00b7"  # line ends, tabs, minus signs, a middle dot


def typed_code(typed: str) -> str:
    """The code without spaces, hyphens, line ends and invisible marks, its digits and letters in
    ASCII where they have such a form."""
    code = ""
    for character in typed:
        if unicodedata.category(character) in _IGNORED or character in _ALSO_IGNORED:
            continue
        digit = unicodedata.decimal(character, None)
        # Full-width letters, for backup codes.
        folded = unicodedata.normalize("NFKC", character)
        if digit is not None:
            code += str(digit)
        else:
            code += folded if len(folded) == 1 and folded.isalpha() else character
    return code


_NONCE = 12


class Unreadable(ValueError):
    """A sealed value that no current key can open, or a text that `unb64` does not accept."""


@kernel_settings.cached
def keys(purpose: str) -> tuple[bytes, ...]:
    """The 32-byte keys of a purpose: the current one first, then those of the fallbacks."""
    label = b"authservice:1:" + purpose.encode()
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    octets = [secret.encode() if isinstance(secret, str) else secret for secret in secret_keys]
    return tuple(hmac.digest(secret, label, "sha256") for secret in octets)


def key_ids(purpose: str) -> list[str]:
    """A name for each key of a purpose, in the order of `keys`: 16 hex characters that reveal
    nothing."""
    return [hmac.digest(key, b"key id", "sha256").hex()[:16] for key in keys(purpose)]


def mac(purpose: str, message: bytes) -> bytes:
    """HMAC-SHA-256 of `message` under the current key: 32 bytes."""
    return hmac.digest(keys(purpose)[0], message, "sha256")


def macs(purpose: str, message: bytes) -> list[bytes]:
    """HMAC-SHA-256 of `message` under the current key and each fallback."""
    return [hmac.digest(key, message, "sha256") for key in keys(purpose)]


def digest(purpose: str, text: str) -> str:
    """A keyed digest to store in place of `text`: 64 hex characters."""
    return hmac.digest(keys(purpose)[0], text.encode(), "sha256").hex()


def digests(purpose: str, text: str) -> list[str]:
    """Every digest under which `text` may have been stored."""
    message = text.encode()
    return [hmac.digest(key, message, "sha256").hex() for key in keys(purpose)]


def matches(purpose: str, text: str, stored: str) -> bool:
    """Whether `stored` is a digest of `text`, in constant time per key."""
    expected = stored.encode()
    return any(hmac.compare_digest(value.encode(), expected) for value in digests(purpose, text))


@kernel_settings.cached
def signer(purpose: str) -> Signer:
    """Django's signer with a salt of its own for each purpose. Signed values can be read by anyone.

    Cached, because deriving its keys costs about half as much as signing.
    """
    return Signer(salt=f"authservice.{purpose}")


@kernel_settings.cached
def timestamp_signer(purpose: str) -> TimestampSigner:
    """As `signer`, with the time of signing, for values that expire."""
    return TimestampSigner(salt=f"authservice.{purpose}")


def seal(purpose: str, text: str) -> str:
    """`text` encrypted and authenticated (AES-256-GCM, NIST SP 800-38D), bound to its purpose."""
    nonce = secrets.token_bytes(_NONCE)
    return b64(nonce + AESGCM(keys(purpose)[0]).encrypt(nonce, text.encode(), purpose.encode()))


def unseal(purpose: str, sealed: str) -> str:
    """The text of `seal`, decrypted with the current key or a fallback. Raises `Unreadable`."""
    raw = unb64(sealed)
    for key in keys(purpose):
        try:
            return AESGCM(key).decrypt(raw[:_NONCE], raw[_NONCE:], purpose.encode()).decode()
        except (InvalidTag, ValueError):
            continue
    raise Unreadable


def fingerprint(text: str) -> str:
    """An unkeyed SHA-256, for values to compare that need no secret: 64 hex characters."""
    return hashlib.sha256(text.encode()).hexdigest()


def b64(raw: bytes) -> str:
    """URL-safe base64 without padding (RFC 4648 section 5)."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """The bytes of `b64`. Raises `Unreadable`, also for any other encoding of the same bytes."""
    # Python takes these letters of the other alphabet (RFC 4648 section 4) for "-" and "_", and
    # warns of it since 3.15: where warnings are errors, anybody's token would be a crash.
    if "+" in text or "/" in text:
        raise Unreadable
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unreadable from error
    # An encoding that differs in the unused bits would be a second valid form of one token.
    if b64(raw) != text:
        raise Unreadable
    return raw
