"""Settings of core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from django.contrib.auth.hashers import get_hasher

from authservice.kernel.rules import Function, NotNegative, Rule, path_of
from authservice.kernel.settings import section

_Hasher = Annotated[str, Rule("the name of a usable hasher", get_hasher)]
_Serializer = Annotated[str, path_of("a serializer")]


@dataclass(frozen=True, kw_only=True)
class Core:
    """`AUTHSERVICE["CORE"]`."""

    allow_signup: bool = True
    """Whether users may sign up. If not, only invitations create accounts: not `POST /signup`,
    magic links or providers."""
    require_email_verification: bool = False
    """Whether users get tokens only after their e-mail address is verified."""
    require_phone_verification: bool = False
    """Whether users get tokens only after their phone number is verified."""
    signup_enumeration: Literal["tell", "hide"] = "tell"
    """`"hide"` gives the same response for a taken and a free address, without tokens, and mails
    the owner of a taken one."""
    reset_requires_email: bool = True
    """Whether `email` is required with the `token` of a reset link; if sent, it must match."""
    verify_confirm: Literal["auto", "off"] = "auto"
    """`"auto"` shows a confirmation page if a browser that did not sign up opens a verification
    link; `"off"` verifies at once, also for mail scanners that open every link."""
    allow_self_delete: bool = False
    """Whether users may delete their own account: rows of the project may be deleted with it."""
    require_recent_proof: bool = False
    """Whether a changed phone number, `/2fa/setup` and linking a provider need the current
    `password` in the request, or a session that began at most 10 minutes ago."""
    wipe_unproven: bool = True
    """Whether the first proof of an address revokes all access that was set up before it: password,
    sessions, second factors, linked providers and phone number (account pre-hijacking)."""
    require_uppercase: bool = False
    """Whether a new password needs an uppercase letter."""
    require_lowercase: bool = False
    """Whether a new password needs a lowercase letter."""
    require_digit: bool = False
    """Whether a new password needs a digit."""
    require_symbol: bool = False
    """Whether a new password needs a character that is neither letter nor digit."""
    dummy_hasher: _Hasher = "default"
    """Algorithm of the dummy hash for unknown users and users without a password; set it to the
    slowest hasher in use."""
    hashes_in_flight: NotNegative[int] = 0
    """Maximum number of password hashes that run concurrently in each process; 0 means twice the
    number of cores. Attempts at one account are checked one after the other. A request that waits
    longer than 2 s is 503 `SERVICE_UNAVAILABLE`, and is not counted as an attempt."""
    claims_hook: Function = ""
    """Dotted path of `(user) -> dict` with additional claims of access tokens; it cannot override
    the others."""
    signup_serializer: _Serializer = ""
    """Dotted path of a serializer with further fields of `POST /signup`."""
    profile_serializer: _Serializer = ""
    """Dotted path of a serializer with further fields of `PUT /profile`."""
    user_fields: Any = ()
    """Further fields in responses about the signed-in user: a list of names of attributes of the
    user model, or a dict from names to paths such as `{"city": "profile.city"}`."""
    login_hook: Function = ""
    """Dotted path of a function `(attempt)` that may refuse a login by any way to sign in, after
    all other checks; see `authservice.kernel.hooks`."""
    login_hook_prepare: Function = ""
    """Dotted path of a function `(attempt)` that is called before the transaction of the login,
    such as to call another service. `LOGIN_HOOK` gets its result as `attempt.prepared`."""
    signup_hook: Function = ""
    """Dotted path of a function `(attempt)` that may refuse a sign-up by any way to sign in, before
    the account is created."""


core = section("CORE", Core)
