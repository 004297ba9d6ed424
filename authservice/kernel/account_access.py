"""Signatures of the slots that end, restore or keep access to an account."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from authservice.kernel.person import Person


class RevokeUnverifiedAccess(Protocol):
    """Slot `revoke_unverified_access`: deletes a module's data of a user whose address was never
    proven before; returns whether there was any."""

    def __call__(self, person: Person) -> bool: ...


class RevokeRecentAccess(Protocol):
    """Slot `revoke_recent_access`: removes the ways to sign in, such as linked providers, that were
    added since a given time, in the transaction of an account recovery; returns whether there were
    any."""

    def __call__(self, person: Person, since: datetime) -> bool: ...


class DistrustEarlierAccess(Protocol):
    """Slot `distrust_earlier_access`: makes ways to sign in that were set up before the first proof
    of the address count as added now, so that a recovery removes them; returns whether there were
    any. Called in the transaction of the proof."""

    def __call__(self, person: Person) -> bool: ...


class RestoreAccess(Protocol):
    """Slot `restore_access`: restores the ways to sign in that were removed since a given time, in
    the transaction of an account recovery."""

    def __call__(self, person: Person, since: datetime) -> None: ...


class RevokeRecentFactors(Protocol):
    """Slot `revoke_recent_factors`: removes the second factors that were set up since a given time;
    returns whether there were any."""

    def __call__(self, person: Person, since: datetime) -> bool: ...


class LoginMethod(Protocol):
    """Slot `login_method`: whether the user can log in by this module now, without a password."""

    def __call__(self, person: Person) -> bool: ...


class BeforeDelete(Protocol):
    """Slot `before_delete`: reassigns or deletes a module's rows of a user who is about to be
    deleted, in the same transaction."""

    def __call__(self, person: Person) -> None: ...


class FingerprintRows(Protocol):
    """Slot `fingerprint_rows`: a model whose rows have an address and a fingerprint of the password
    hash of its account."""

    def rebind(self, email_key: str, stale: Collection[str], fresh: str) -> None:
        """Store `fresh` in the rows of this address that have one of the fingerprints `stale`: the
        hash of the password has changed, the password has not."""
        ...
