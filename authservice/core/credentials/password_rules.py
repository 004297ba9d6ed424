"""What a new password must be: our own rules, and validators, one of which asks a list of breached
passwords. The validators are published in `authservice.validators`.

The server of that list gets the first five characters of the SHA-1 and answers with all endings
that it knows (k-anonymity, the protocol of Have I Been Pwned). It pads the answer, so that its
length reveals nothing to a listener on the network either.

A server that is slow or away delays one request by 0.8 s. Then the circuit is open: for a minute
the server is not asked, and no password is refused. After that minute one request tries again.

The client for it is imported with the first such request, since it imports urllib3: a fifth of what
a worker needs to start, and most management commands never ask.

Each validator can check the current password of a user too, not only a new one. So logins call the
validators again: lists of breached passwords grow, and a second factor may be removed.
"""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import password_filter
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import events, languages, settings
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.languages import Phrase, phrase, translated
from authservice.kernel.modules import plugs
from authservice.kernel.outbound import Busy, InsideTransaction, OutboundError
from authservice.kernel.secret import Secret

logger = logging.getLogger("authservice.accounts")

TIMEOUT = timedelta(milliseconds=800)
PAUSE = 60.0  # seconds
_SENT = 5  # hexadecimal characters
_SERVICE = "the list of breached passwords"
_HEADERS = {"Accept": "text/plain", "Add-Padding": "true"}
_ANSWER = re.compile(rb"(?:[0-9A-F]{35}:[0-9]+(?:\r?\n|\Z))+")


def is_breached(password: str, url: str) -> bool | None:
    """Whether the list has the password; None if its server cannot be asked now. `url` is what the
    five characters are appended to. Takes at most 0.8 s."""
    from authservice.kernel.outbound import http_client

    encoded = password.encode("utf-8", "surrogatepass")
    digest = hashlib.sha1(encoded, usedforsecurity=False).hexdigest().upper()
    start, ending = digest[:_SENT], digest[_SENT:]
    circuit = _circuit(url)
    if not circuit.may_ask():
        return None
    try:
        answer = http_client.send(
            "GET", f"{url}{start}", service=_SERVICE, headers=_HEADERS, timeout=TIMEOUT
        )
        answer.raise_for_status()
        endings = answer.body.upper()
        # An empty or other answer must not count as "not breached" silently.
        if not _ANSWER.fullmatch(endings):
            raise NotARange("The response is no list of breached passwords.")
    except InsideTransaction:
        # A form of the project or of Django admin: its locks must not wait for another server.
        circuit.give_back()
        return None
    except Busy:
        circuit.give_back()  # the server is not at fault
        return None
    except (OutboundError, OSError) as error:  # also a file of certificates that cannot be read
        if circuit.open():
            reason = type(error).__name__
            logger.warning("Passwords are not compared with breached ones: %s", reason)
            action = "security.breach_check.unavailable"
            # No member of staff did this: the log has the service itself as the actor.
            events.record_by_staff(action, None, None, Client(), reason=reason)
        return None
    circuit.close()
    entry = re.search(rb"^%b:([0-9]+)" % ending.encode(), endings, re.MULTILINE)
    # Entries with the count 0 are padding.
    return entry is not None and bool(entry[1].strip(b"0"))


class NotARange(OutboundError):
    """The body is no list of endings."""


class _Circuit:
    """Closed while the server answers; open for a minute after each failure."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failing = False
        self._open_until = 0.0

    def may_ask(self) -> bool:
        """Whether a request may be sent now. After a minute one request tries; for all others the
        circuit stays open until that one succeeds."""
        with self._lock:
            if not self._failing:
                return True
            now = monotonic()
            if now < self._open_until:
                return False
            self._open_until = now + PAUSE
            return True

    def open(self) -> bool:
        """Record a failed request; returns whether it is the first failure in a row."""
        with self._lock:
            first = not self._failing
            self._failing = True
            self._open_until = monotonic() + PAUSE
            return first

    def give_back(self) -> None:
        """Nothing was sent, so the next request may try."""
        with self._lock:
            if self._failing:
                self._open_until = 0.0

    def close(self) -> None:
        """Record a request that succeeded."""
        with self._lock:
            recovered = self._failing
            self._failing = False
        if recovered:
            logger.info("%s is available again.", _SERVICE.capitalize())


@settings.cached
def _circuit(url: str) -> _Circuit:
    return _Circuit()


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
        return is_breached(password, self.url)

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


MINIMUM = 8


def _at_least(count: int) -> str:
    return phrase("Must have at least %(count)d characters.", count=count)


_TOO_SHORT = _at_least(MINIMUM)
_UPPERCASE = phrase("Must have an uppercase letter.")
_LOWERCASE = phrase("Must have a lowercase letter.")
_DIGIT = phrase("Must have a digit.")
_SYMBOL = phrase("Must have a character that is neither a letter nor a digit.")
# The same rules in JavaScript, for forms.
_PATTERNS: dict[str, str] = {
    _TOO_SHORT: f"^.{{{MINIMUM},}}",
    _UPPERCASE: r"\p{Lu}",
    _LOWERCASE: r"\p{Ll}",
    _DIGIT: r"\p{Nd}",
    _SYMBOL: r"[^\p{L}\p{N}]",
}
# What forms say of Django's rules: shorter than their help texts, and in the voice of the others.
_OF_DJANGO: dict[type[Any], str] = {
    password_validation.CommonPasswordValidator: phrase("Must not be a common password."),
    password_validation.NumericPasswordValidator: phrase("Must not consist of digits only."),
    password_validation.UserAttributeSimilarityValidator: phrase(
        "Must not be similar to your name or e-mail address."
    ),
}


def require_strong(password: Secret, user: Any, *, field: str = "password") -> None:
    """Raises `InvalidPassword` for this field, with all broken rules of this service and the host
    project."""
    broken = list(_broken(password.reveal()))
    with languages.of_texts():
        try:
            password_validation.validate_password(password.reveal(), user)
        except ValidationError as error:
            broken = _with_rules_of_host(broken, error)
    if broken:
        raise errors.broken_password(field, broken)


class Rule(NamedTuple):
    """A rule for a new password, for a form. `pattern` is a regular expression of JavaScript (flags
    `su`) that matches the passwords that meet the rule, "" if a browser cannot tell."""

    text: str
    pattern: str = ""


def rules_for(user: Any = None) -> list[Rule]:
    """The rules for a new password of this user (None for a new user), in the active language.

    Of several minimum lengths, only the longest that applies to the user is listed.
    """
    # Each rule with the minimum length that it requires, or 0; "" breaks all rules.
    listed = [
        (MINIMUM if text == _TOO_SHORT else 0, Rule(translated(text), _PATTERNS[text]))
        for text in _broken("")
    ]
    for validator in password_validation.get_default_password_validators():
        length, pattern = 0, ""
        if isinstance(validator, MinimumLengthWithoutFactor) and not validator.is_broken("", user):
            continue
        if isinstance(
            validator, password_validation.MinimumLengthValidator | MinimumLengthWithoutFactor
        ):
            length, pattern = validator.min_length, f"^.{{{validator.min_length},}}"
        elif type(validator) is password_validation.NumericPasswordValidator:
            pattern = r"\P{N}"  # a subclass may have a rule of its own
        if type(validator) is password_validation.MinimumLengthValidator:
            text = translated(_at_least(length))
        elif type(validator) in _OF_DJANGO:
            text = translated(_OF_DJANGO[type(validator)])
        else:  # only forms of Django call `get_help_text`, so one of the project may lack it
            text = str(getattr(validator, "get_help_text", str)())
        if text:
            listed.append((length, Rule(text, pattern)))
    longest = max(listed, key=lambda entry: entry[0])
    return [entry[1] for entry in listed if not entry[0] or entry is longest]


def _with_rules_of_host(own_texts: list[str], host_error: ValidationError) -> list[str]:
    """Join both lists. Of several minimum lengths, only the longest is reported."""
    too_short = [error for error in host_error.error_list if _minimum(error)]
    longest = max(too_short, key=_minimum, default=None)
    if longest is not None and _TOO_SHORT in own_texts:
        if _minimum(longest) > MINIMUM:
            own_texts = [text for text in own_texts if text != _TOO_SHORT]
        else:
            longest = None
    host_texts = [
        text
        for error in host_error.error_list
        if error is longest or not _minimum(error)
        for text in error.messages
    ]
    return [*own_texts, *(text for text in host_texts if text not in own_texts)]


def _minimum(error: ValidationError) -> int:
    """The minimum length that a password does not have, or 0 for an error of another rule."""
    if error.code != "password_too_short":
        return 0
    length = (error.params or {}).get("min_length", 0)
    return length if isinstance(length, int) else 0


def _broken(password: str) -> list[str]:
    """The texts of those rules of this service that the password breaks."""
    rules_for = [
        (len(password) >= MINIMUM, _TOO_SHORT),
        (not core.require_uppercase or _has(password, "Lu"), _UPPERCASE),
        (not core.require_lowercase or _has(password, "Ll"), _LOWERCASE),
        (not core.require_digit or _has(password, "Nd"), _DIGIT),
        (
            not core.require_symbol or not all(c.isalnum() for c in password),
            _SYMBOL,
        ),
    ]
    return [text for met, text in rules_for if not met]


def _has(password: str, category: str) -> bool:
    return any(unicodedata.category(c) == category for c in password)
