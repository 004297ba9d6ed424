"""The users to whom imported access belongs, and why a user must not get it.

Access from another package may belong to an attacker, who signed up there with the address of
another person (account pre-hijacking). So it is not imported if the owner has proven the address
since, which removed all earlier access. If the owner proves the address after the import, that
removes the imported access too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.core.users.user_model import host
from authservice.kernel import databases

NO_USER = "the user does not exist"
PROVEN = "the address of the account was proven here later, which removes earlier access"


@dataclass(frozen=True)
class Owners:
    """Users of a batch, and when they proved their address here."""

    users: Mapping[Any, Any]
    proven: Mapping[Any, datetime]

    @classmethod
    def of(cls, keys: set[Any], *, lock: bool) -> Owners:
        """`lock` the users until the transaction ends: they can neither be deleted nor change their
        access. Two or three statements."""
        if lock:
            passwords.lock_users(keys)
        users = host().model._base_manager.using(databases.primary()).in_bulk(keys)
        rows = Account.objects.filter(user__in=keys).values_list("user_id", "email_proven_at")
        proven = {user: proven_at for user, proven_at in rows if proven_at}
        return cls(users=users, proven=proven)

    def doubt(self, key: Any, added_at: datetime | None) -> str:
        """Why access that the package added at this time must not be imported for this user; "" if
        it may."""
        if key not in self.users:
            return NO_USER
        proven_at = self.proven.get(key)
        earlier = proven_at is not None and (added_at is None or proven_at >= added_at)
        return PROVEN if core.wipe_unproven and earlier else ""
