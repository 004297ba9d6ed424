"""Three validators of passwords, published in `authservice.validators`.

Each can check the current password of a user too, not only a new one. So logins call the validators
again: lists of breached passwords grow, and a second factor may be removed.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import Any

from django.core.exceptions import ValidationError

from authservice.core.credentials import breached_passwords, password_filter
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import Phrase, phrase, translated

logger = logging.getLogger("authservice.accounts")

_LOGGED_EVERY = 60.0  # seconds


class RecheckedValidator:
    """A validator that logins call again, with the password that was typed."""

    rule: str
    """The code of its `ValidationError`, and the `rule` of the audit entry."""
    asks_server = False
    """Whether it asks another server, so that a login asks it only once in 30 days."""

    def is_broken(self, password: str, user: Any) -> bool | None:
        """Whether the password of `user`, or of nobody (None), breaks the rule; None if that cannot
        be decided now. Raises nothing: a password must not be refused by a fault of the service."""
        raise NotImplementedError

    def refusal(self) -> Phrase:
        """What is wrong with a password that breaks the rule."""
        raise NotImplementedError

    def validate(self, password: str, user: Any = None) -> None:
        """Raises `ValidationError`."""
        if self.is_broken(password, user):
            raise ValidationError(translated(self.refusal()), code=self.rule)


class NotBreached(RecheckedValidator):
    """Refuses passwords of known data breaches. Five characters of the SHA-1 are sent to `url`. If
    its server does not answer within 0.8 s, the password is accepted and checked at the next login.
    """

    rule = "password_breached"
    asks_server = True

    def __init__(self, url: str = "https://api.pwnedpasswords.com/range/") -> None:
        self.url = f"{url.rstrip('/')}/"

    def is_broken(self, password: str, user: Any) -> bool | None:
        return breached_passwords.is_breached(password, self.url)

    def refusal(self) -> Phrase:
        return phrase("Must not be known from a data breach of any website.")

    def get_help_text(self) -> str:
        return translated(self.refusal())


class NotCommon(RecheckedValidator):
    """Refuses the passwords of a list. `filter` is a file of `authservice_password_filter`. If it
    cannot be read, which a system check reports, no password is refused."""

    rule = "password_too_common"

    def __init__(self, filter: Any = "") -> None:
        self.path = str(filter)
        self._next_log_at = 0.0

    def is_broken(self, password: str, user: Any) -> bool | None:
        try:
            return password in password_filter.current(self.path)
        except password_filter.InvalidFilter as error:
            if monotonic() >= self._next_log_at:
                self._next_log_at = monotonic() + _LOGGED_EVERY
                logger.error("Passwords are not compared with common ones: %s", error)
            return None

    def refusal(self) -> Phrase:
        return phrase("Must not be a common password.")

    def get_help_text(self) -> str:
        return translated(self.refusal())


class MinimumLengthWithoutFactor(RecheckedValidator):
    """Requires `min_length` characters of users without a second factor, unless the project
    requires one of them (NIST SP 800-63B-4 section 3.1.1.2)."""

    rule = "password_too_short"

    def __init__(self, min_length: int = 15) -> None:
        self.min_length = min_length

    def is_broken(self, password: str, user: Any) -> bool | None:
        if len(password) >= self.min_length:
            return False
        # Whether the user has a second factor, or must set one up to log in.
        factors = plugs(SecondFactor)
        if not factors:
            return True
        # Nobody, and an object that is no user of the project, count as a new user.
        if not isinstance(user, host().model):
            user = host().model()
        if user._state.adding:
            person = Person(user, Account())
            return not any(factor.is_required(person) for factor in factors)
        person = lookup.get_person(user)
        return not any(
            factor.is_enabled(person) or factor.is_required(person) for factor in factors
        )

    def refusal(self) -> Phrase:
        return phrase(
            "Must have at least %(count)d characters without a second factor.",
            count=self.min_length,
        )

    def validate(self, password: str, user: Any = None) -> None:
        if self.is_broken(password, user):
            # As Django's error of this code, so that of several minimum lengths the longest counts.
            params = {"min_length": self.min_length}
            raise ValidationError(translated(self.refusal()), code=self.rule, params=params)

    def get_help_text(self) -> str:
        return translated(self.refusal())
