"""Backup codes: sets of ten, 60 random bits each; each works once in place of a code of the app.

Stored as keyed digests of the authenticator's primary key and the code. Imported codes have another
length: 8 digits have 26 bits, which the limit of attempts protects (`lockout`).
"""

from __future__ import annotations

import base64
import re
import secrets

from authservice.kernel import clock, crypto, typed_codes
from authservice.kernel.secret import Secret
from authservice.twofactor.models import Authenticator, BackupCode

NUMBER = 10
_CHARACTERS = 12  # of base32, 5 bits each
_GROUP = 4
# Ours have 12 characters of base32, imported ones others. Six digits are a code of the app.
_BARE = re.compile(r"[A-Z0-9]{8,32}")
_DIGEST = "backup-code"


def replace(authenticator: Authenticator) -> list[Secret]:
    """A new set of codes; the old ones are deleted, used or not."""
    codes = [_new() for _ in range(NUMBER)]
    BackupCode.objects.filter(authenticator=authenticator.pk).delete()
    BackupCode.objects.bulk_create(
        BackupCode(authenticator_id=authenticator.pk, digest=_digest(authenticator, code))
        for code in codes
    )
    return [_grouped(code) for code in codes]


def consume(authenticator: Authenticator, typed: Secret) -> bool:
    """Whether this is an unused code of the authenticator and this call used it."""
    code = _bare(typed.reveal())
    if not code:
        return False
    # All conditions are on the row itself. After waiting for a row lock, PostgreSQL re-checks
    # conditions on that row only; with a join, concurrent requests could use the same code.
    unused = BackupCode.objects.filter(
        authenticator_id=authenticator.pk,
        digest__in=crypto.digests(_DIGEST, f"{authenticator.pk}|{code.reveal()}"),
        used_at=None,
    )
    return bool(unused.update(used_at=clock.now()))


def remaining(authenticator: Authenticator) -> int:
    return BackupCode.objects.filter(authenticator=authenticator.pk, used_at=None).count()


def is_importable(code: Secret) -> bool:
    """Whether a code of another package can be stored: its form must not be that of a code of the
    app, and a user must be able to type it."""
    return bool(_bare(code.reveal()))


def digest_of(authenticator: Authenticator, code: Secret) -> str:
    """The digest to store for an importable code of another package."""
    return _digest(authenticator, _bare(code.reveal()))


def _new() -> Secret:
    return Secret(base64.b32encode(secrets.token_bytes(8)).decode()[:_CHARACTERS])


def _grouped(code: Secret) -> Secret:
    text = code.reveal()
    return Secret("-".join(text[at : at + _GROUP] for at in range(0, _CHARACTERS, _GROUP)))


def _bare(typed: str) -> Secret:
    """The code in the form that the digest is made of, or "". Users type codes from paper, with or
    without hyphens and spaces and in either case."""
    bare = typed_codes.read(typed)
    bare = bare.upper() if bare.isascii() else ""
    return Secret(bare if _BARE.fullmatch(bare) else "")


def _digest(authenticator: Authenticator, code: Secret) -> str:
    return crypto.digest(_DIGEST, f"{authenticator.pk}|{code.reveal()}")
