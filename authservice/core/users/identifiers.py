"""Identifiers of users: the accepted forms, and the key by which each is compared.

A key is the SHA-256 of a canonical form, in hex: 64 ASCII characters. So the collation of a
database does not decide which identifiers are equal, and attempts on unknown users are counted by
the same keys.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import idna
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from authservice.core.users import host_fields
from authservice.core.users.user_model import host
from authservice.kernel.languages import Phrase, phrase
from authservice.kernel.secret import fingerprint

EMAIL_LENGTH = 254
EMAIL_RULE = phrase("Must be an e-mail address.")
NEW_EMAIL_RULE = phrase("Must be an e-mail address without quotes, at a domain with a public name.")
USERNAME_RULE = phrase("Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.")
USERNAME_LENGTH = 254
OTHER_USERNAME_RULE = phrase("Must be a login name that the user model of this project accepts.")
PHONE_RULE = phrase("Must be a possible number in E.164 form, as +4930123456.")
USERNAME_FORM = re.compile(r"[A-Za-z0-9_.-]{3,30}")
PHONE_FORM = re.compile(r"\+[1-9][0-9]{6,14}")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Labels of domains that receive no mail, such as users.noreply.github.com.
_NO_MAIL = frozenset({"noreply", "no-reply"})
_STOPS = "\u3002\uff0e\uff61"  # the full stops that UTS 46 maps to a dot


# One request needs the same key several times; keys of other requests need not stay in memory.
@lru_cache(maxsize=64)
def email_key(email: str) -> str:
    """Key of an e-mail address: NFKC, case-folded, the domain in IDNA (UTS 46)."""
    local, _, domain = email.strip().rpartition("@")
    return fingerprint(f"email:{_folded(local)}@{_ascii_domain(domain)}")


def domain_key(domain: str) -> str:
    """Key of the domain of an address: lower case and in IDNA, as in `email_key`."""
    return _ascii_domain(domain.strip())


@lru_cache(maxsize=64)
def username_key(username: str) -> str:
    """Key of a username: NFKC and case-folded, independent of the host's own rules."""
    return fingerprint(f"username:{_folded(username)}")


def phone_key(phone: str) -> str:
    """Key of a phone number in E.164 form."""
    return fingerprint(f"phone:{phone}")


def is_email(text: str) -> bool:
    """Whether the text is an e-mail address by Django's own rule, with an ASCII local part."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    # Django's rule ignores case, so it accepts two non-ASCII letters whose case folding is ASCII.
    return len(text) <= EMAIL_LENGTH and text.rpartition("@")[0].isascii()


def is_new_email(text: str) -> bool:
    """Whether an account may be given this address.

    Stricter than `is_email`: one mailbox must not have several spellings. Mail servers drop the
    quotes and backslashes of a quoted local part (RFC 5321 section 4.1.2), so one mailbox could
    have any number of accounts, each with its own limits. IP addresses, domains without a form in
    IDNA 2008 and, unless DEBUG, `localhost` are refused too. Existing rows keep such an address.
    """
    local, _, domain = text.strip().rpartition("@")
    if not is_email(text) or '"' in local:
        return False
    domain = _ascii_domain(domain)
    if domain == "localhost" or domain.endswith(".localhost"):
        return settings.DEBUG
    try:
        ipaddress.ip_address(domain)
    except ValueError:
        # No mail server has a domain that IDNA cannot encode, such as one with a lone surrogate.
        return domain.isascii() and not domain.startswith("[")
    return False


def receives_mail(email: str) -> bool:
    """Whether mail to the address can reach its user. An address such as
    `1+ann@users.noreply.github.com` proves nothing: nobody reads its mails."""
    return _NO_MAIL.isdisjoint(email.rpartition("@")[2].lower().split("."))


def deliverable(email: str) -> str:
    """The address with its domain in IDNA 2008, the same form as in its key: `ß` is not `ss`."""
    local, _, domain = email.rpartition("@")
    return f"{local}@{_ascii_domain(domain)}"


def is_username(text: str) -> bool:
    """Whether a new user may have this username.

    If the username of the host's model is not free text but a number, a UUID, one of its choices or
    a phone number, its field decides.
    """
    if _our_rule_applies():
        return USERNAME_FORM.fullmatch(text) is not None
    if len(text) > USERNAME_LENGTH or not host_fields.accepts(host().username, text):
        return False
    # A phone number in E.164 form, or as digits alone if the field accepts them.
    return not host_fields.is_for_phones() or is_phone(text) or text.isdecimal()


def _our_rule_applies() -> bool:
    """Whether the host's model has no username, or one of free text: one that this service could
    make up."""
    return not host().username or host_fields.made_up_length() > 0


def can_be_typed(username: str) -> bool:
    """Whether a request can have this username of an old user: requests are trimmed, in normal form
    C, and without control characters."""
    as_requested = unicodedata.normalize("NFC", username.strip())
    return (
        username == as_requested
        and len(username) <= USERNAME_LENGTH
        and not CONTROL.search(username)
    )


def username_rule() -> Phrase:
    """The rule of `is_username`."""
    if _our_rule_applies():
        return USERNAME_RULE
    return PHONE_RULE if host_fields.is_for_phones() else OTHER_USERNAME_RULE


def is_phone(text: str) -> bool:
    """Whether the text is a possible number in E.164 form (ITU-T E.164), without stripping.

    Only one spelling of a number is accepted: not +49030123456, which has the trunk prefix 0.
    Otherwise one number could belong to several accounts, each with limits of its own. This needs
    the `phone` extra.
    """
    if PHONE_FORM.fullmatch(text) is None:
        return False
    try:
        # Imported here: an optional extra, with megabytes of metadata that few processes need.
        import phonenumbers
    except ImportError:
        return True  # without the extra only the form counts
    # The numbering plan of the country decides.
    try:
        number = phonenumbers.parse(text)
    except phonenumbers.NumberParseException:
        return False
    if not phonenumbers.is_possible_number(number):
        return False
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) == text


def country_of(number: str) -> str:
    """ISO 3166 code of the number's country, such as "DE"; "" if it is unknown.

    Needs the `phone` extra.
    """
    import phonenumbers

    try:
        return phonenumbers.region_code_for_number(phonenumbers.parse(number)) or ""
    except phonenumbers.NumberParseException:
        return ""


def _folded(text: str) -> str:
    # Case folding can undo the normal form, so normalize twice (Unicode 3.13, NFKC_Casefold).
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _ascii_domain(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain.lower():
        return domain.lower()  # the same result as below, at a hundredth of the cost
    # IDNA maps the full stops of other scripts to a dot, and mail servers drop one at the end: one
    # mailbox would have several spellings. A final dot itself is refused.
    stopless = domain.rstrip(_STOPS + ".") if domain.endswith(tuple(_STOPS)) else domain
    try:
        encoded = idna.encode(stopless, uts46=True).decode()
        return encoded.removesuffix(".")  # an ignored character may follow the full stop
    except (idna.IDNAError, UnicodeError):
        return _folded(domain)


@dataclass(frozen=True, kw_only=True)
class Identifier:
    """A kind of identifier: its form, and the fields of an account that belong to it.

    `text`, `claim`, `unique` and `verified` are names of fields. `text` has the identifier as it is
    written, and `claim` its key. `unique` has the same key, but only in the one account that a
    look-up by this key finds: if two users claim a key, it may be empty in both. `verified` has the
    key that was verified. A phone number has one field for `claim` and `unique`: several accounts
    may have the same number, and it finds the account that has verified it.
    """

    text: str
    accepts: Callable[[str], bool]
    rule: Phrase
    key: Callable[[str], str]
    claim: str
    unique: str
    verified: str = ""


EMAIL = Identifier(
    text="email",
    accepts=is_email,
    rule=EMAIL_RULE,
    key=email_key,
    claim="email_claim",
    unique="email_key",
    verified="verified_email_key",
)
USERNAME = Identifier(
    text="username",
    accepts=is_username,
    rule=USERNAME_RULE,
    key=username_key,
    claim="username_claim",
    unique="username_key",
)
PHONE = Identifier(
    text="phone_number",
    accepts=is_phone,
    rule=PHONE_RULE,
    key=phone_key,
    claim="phone_key",
    unique="phone_key",
    verified="verified_phone_key",
)
