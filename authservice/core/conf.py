"""Settings of core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.contrib.auth.hashers import get_hasher

from authservice.kernel import levels
from authservice.kernel.rules import Function, NotNegative, Positive, Rule, path_of
from authservice.kernel.settings import convert, section

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
    lost_messages_kept: NotNegative[timedelta] = timedelta(days=14)
    """How long a message that could not be sent stays in the list of Django admin, from which staff
    send it again. With 0 none is stored."""
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
    password_recheck: Literal["off", "notice", "change"] = "notice"  # noqa: S105
    """What a login does about a right password that `NotBreached`, `NotCommon` or
    `MinimumLengthWithoutFactor` in `AUTH_PASSWORD_VALIDATORS` would refuse by now. `"notice"`
    e-mails the user once; `"change"` refuses the login with `PASSWORD_CHANGE_REQUIRED` and sends a
    link or code to choose another; `"off"` does not ask them."""
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
    """Dotted path of a serializer with extra fields of `POST /signup`."""
    profile_serializer: _Serializer = ""
    """Dotted path of a serializer with extra fields of `PUT /profile`."""
    user_fields: Any = ()
    """Extra fields in responses about the signed-in user: a list of names of attributes of the
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

    export_hook: Function = ""
    """Dotted path of a function `(user)` that yields `(name, purpose, rows)` for each kind of rows
    that the project stores about a user: `rows` are dicts, for `GET /me/export`."""


core = section("CORE", Core)


def _is_need(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or set(entry) - {"acr", "max_age"}:
        raise ValueError('it has the keys "acr" and "max_age" only')
    if entry.get("acr", "own") not in (*levels.ORDER, "own"):
        raise ValueError(f'"acr" is "own" or one of {", ".join(levels.ORDER)}')
    try:
        max_age = convert(entry.get("max_age"), timedelta | None)
    except TypeError as error:
        raise ValueError(f'"max_age" must be {error}') from error
    if max_age is not None and max_age <= timedelta(0):
        raise ValueError('"max_age" is positive')
    return True


_Need = Annotated[Any, Rule('a dict such as {"acr": "aal2", "max_age": 600}', _is_need)]


@dataclass(frozen=True, kw_only=True)
class StepUp:
    """`AUTHSERVICE["STEP_UP"]`: which routes ask for a fresh or a stronger proof."""

    routes: Literal["default", "strict"] = "default"
    """`"default"` guards the routes of passkeys. `"strict"` also guards a changed e-mail address or
    phone number, linking and unlinking a provider, who owns an organization, `DELETE /org/{id}` and
    every write of super admins: with two factors of a user who has a second one, otherwise with any
    proof."""
    max_age: Positive[timedelta] = timedelta(minutes=10)
    """How old the proof may be on the routes of `"strict"`."""
    further_routes: Mapping[str, _Need] = field(default_factory=dict)
    """Further guarded routes, such as `{"DELETE /me": {"acr": "phr", "max_age": 600}}`. `acr` is a
    level, or `"own"` for two factors of a user who has a second one, otherwise any proof; `max_age`
    is the age of the proof, `None` for any."""


step_up = section("STEP_UP", StepUp)
