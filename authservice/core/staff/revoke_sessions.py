"""Super admins end all sessions of a user over the API."""

from __future__ import annotations

from typing import Any

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.core.staff import authority
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.client import Client


def revoke(pk: Any, *, by: Person, session: Session, client: Client) -> None:
    """End all sessions of a user; `by` is the acting super admin, `session` their session.

    Raises `UserNotFound`, and as `authority.acting` does.
    """
    with authority.acting(by, session, pk) as editor:
        person = lookup.find_by_pk(pk)
        if person is None:
            raise errors.UserNotFound
        revocation.revoke_users([person.user], by=editor.user, client=client)
