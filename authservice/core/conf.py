"""Settings of core and of the stateless policy, which is core's own default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Core:
    """`AUTHSERVICE["CORE"]`."""

    allow_signup: bool = True
    """Whether `POST /signup` makes accounts."""
    require_email_verification: bool = False
    """Whether nobody gets tokens before the e-mail address is verified."""
    require_phone_verification: bool = False
    """Whether nobody gets tokens before the phone number is verified."""
    signup_enumeration: Literal["tell", "hide"] = "tell"
    """`"hide"` answers a taken address like a free one, without tokens, and writes to its owner."""
    reset_requires_email: bool = True
    """Whether `email` must come with the `token` of a reset link; where it comes it must match."""
    verify_confirm: Literal["auto", "off"] = "auto"
    """`"auto"` shows a confirmation page to a browser that opens a verification link and did not
    sign up; `"off"` verifies at once, also for mail scanners that open every link."""
    require_recent_proof: bool = False
    """Whether a changed phone number, `/2fa/setup` and linking a provider need the current
    `password` in the request, or a session that began at most 10 minutes ago."""
    wipe_unproven: bool = True
    """Whether the first proof of an address ends whatever access there was to the account without
    it: its password, sign-ins, second factors, linked providers and number."""
    require_uppercase: bool = False
    """Whether a new password needs an uppercase letter."""
    require_lowercase: bool = False
    """Whether a new password needs a lowercase letter."""
    require_digit: bool = False
    """Whether a new password needs a digit."""
    require_symbol: bool = False
    """Whether a new password needs a character that is neither letter nor digit."""
    dummy_hasher: str = "default"
    """Algorithm of the hash made when there is no password to check; the slowest in use is best."""
    hashes_in_flight: int = 0
    """How many password hashes may run at once in each process; 0 is twice the number of cores. A
    request that waits longer than 2 s for its turn is 503 `SERVICE_UNAVAILABLE`."""
    claims_hook: str = ""
    """Dotted path of `(user) -> dict`: further claims of access tokens; it overrides none."""


@dataclass(frozen=True, kw_only=True)
class Stateless:
    """`AUTHSERVICE["STATELESS"]`."""

    check: Literal["full", "signature"] = "full"
    """`"signature"` trusts an access token until it expires: a logout or a changed password is
    then felt only when the token is refreshed."""


core = section("CORE", Core)
stateless = section("STATELESS", Stateless)
