"""Who a bearer token speaks for: its signature, then one query whether it still counts."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from authservice.core import access_tokens, directory, sign_ins
from authservice.core.conf import stateless
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel import errors
from authservice.kernel.modules import plugs


@dataclass
class Identity:
    """The caller of a request and the sign-in they use."""

    claims: Mapping[str, Any]
    sign_in_id: uuid.UUID

    @cached_property
    def _found(self) -> tuple[Person, SignIn]:
        found = sign_ins.find_used(self.sign_in_id)
        if found is None or found[0].id != self.claims["sub"]:
            raise errors.InvalidToken
        return found

    @property
    def person(self) -> Person:
        return self._found[0]

    @property
    def sign_in(self) -> SignIn:
        return self._found[1]


def identify(token: str) -> Identity:
    """Raises `InvalidToken` or `TokenExpired`."""
    claims = access_tokens.read(token)
    try:
        caller = Identity(claims, uuid.UUID(claims["sid"]))
    except (ValueError, AttributeError, TypeError) as wrong:
        raise errors.InvalidToken from wrong
    if stateless.check == "full" or plugs("login_policy"):
        _require_live(caller)
    return caller


def _require_live(caller: Identity) -> None:
    person, sign_in = caller.person, caller.sign_in
    if caller.claims["ver"] != person.account.token_version:
        raise errors.InvalidToken
    if not sign_ins.holds(person, sign_in):
        raise errors.InvalidToken
    for admit in plugs("login_policy"):
        admit(person, sign_in)
    if not directory.in_step(person.user, person.account):
        directory.resync(person)
