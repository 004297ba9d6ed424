"""What hooks of the host project receive, and the exception with which they refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, catalogue

_CODE = re.compile(r"[A-Z][A-Z0-9_]{2,63}")


class Refused(Fault):
    """Raised by a hook to refuse: the response is 403 with `code` and `message`.

    The code belongs to the host project. The constructor raises `ValueError` for a code of this
    service, which clients would misunderstand, and for one that is not in `UPPER_SNAKE_CASE`.
    """

    status = 403
    # Of a sign-up whose account exists although its first login was refused. Clients do not see it;
    # the page of the sign-up must not offer its form again.
    account_exists = False

    def __init__(self, code: str, message: str) -> None:
        if not _CODE.fullmatch(code):
            raise ValueError(f"{code!r} is not a code such as 'NOT_APPROVED'.")
        if code in {fault.code for fault in catalogue()}:
            raise ValueError(f"{code!r} is a code of authservice. Choose one of your own.")
        self.code = code
        super().__init__(message)

    def of_login(self, *, is_new: bool) -> Refused:
        """A copy for the login that it refuses, as the project may raise one object many times;
        `is_new` says whether the login is the first one of a new account."""
        refusal = copy(self)
        refusal.account_exists = is_new
        return refusal

    def __copy__(self) -> Refused:
        # That of an exception calls the constructor with `args`, which have no code.
        refusal = type(self).__new__(type(self), *self.args)
        refusal.__dict__.update(self.__dict__)
        return refusal


@dataclass(frozen=True, kw_only=True)
class LoginAttempt:
    """A user who is about to get a session: the argument of `CORE.LOGIN_HOOK` and
    `CORE.LOGIN_HOOK_PREPARE`.

    `user` is the user of the host project. During a sign-up, `LOGIN_HOOK_PREPARE` gets one that is
    not saved. `method` names the way to sign in: `password`, `signup`, `magic-link`,
    `oauth:<provider>`, `invitation` or `org-invitation`. `proofs` are values of the claim
    `amr`. `prepared` is what `LOGIN_HOOK_PREPARE` returned.
    """

    user: Any
    client: Client
    method: str
    proofs: tuple[str, ...]
    prepared: Any = None


@dataclass(frozen=True, kw_only=True)
class SignupAttempt:
    """An account that is about to be created: the argument of `CORE.SIGNUP_HOOK`.

    `user` is an unsaved user of the host project, with address, username and names. `method` names
    the way to sign up, as in `LoginAttempt`. `fields` are the validated extra fields, see
    `CORE.SIGNUP_SERIALIZER`.
    """

    user: Any
    client: Client
    method: str
    fields: Mapping[str, Any] = field(default_factory=dict)
