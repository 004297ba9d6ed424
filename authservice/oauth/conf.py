"""Settings of this module. Those of each provider are in `provider_settings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any

from authservice.kernel.rules import Positive, TokenTarget, class_with
from authservice.kernel.settings import section

# The methods of the protocols in `storage`, and of `authservice.kernel.interfaces.SessionStore`.
_Users = Annotated[str, class_with("find", "find_by_email", "lock", "create")]
_Links = Annotated[str, class_with("find", "of_user", "add", "remove", "store_tokens")]
_Sessions = Annotated[str, class_with("begin", "alive", "touch", "end", "live_for")]


@dataclass(frozen=True, kw_only=True)
class OAuth:
    """`AUTHSERVICE["OAUTH"]`."""

    providers: Mapping[Any, Any] = field(default_factory=dict)
    """Settings of each provider by its name in the paths; see the page about providers."""
    default_redirect_url: TokenTarget = ""
    """Front-end URL that the callback redirects to, with the tokens in the fragment, or with
    `status=signed_in` if they are in cookies. If empty, the response is JSON."""
    return_urls: tuple[TokenTarget, ...] = ()
    """Further front-end URLs that a login may return to instead, if it starts with one of them as
    `next`. They are compared exactly; there are no wildcards."""
    error_redirect_url: TokenTarget = ""
    """Front-end URL that a failed callback redirects to, and a browser whose login cannot start,
    with `error` and `error_description` in the query. If empty, the response is JSON."""
    allow_signup: bool = True
    """Create an account for an unknown user of a provider, if `CORE.ALLOW_SIGNUP` allows it too."""
    allow_account_linking: bool = True
    """Link a provider to the account that has the e-mail address which the provider verified."""
    profile_fields: Mapping[Any, Any] = field(default_factory=dict)
    """Fields of the user model that a new account takes from the profile, such as
    `{"full_name": "name"}`; sources are `name`, `first_name`, `last_name` and `avatar`."""
    trust_email_verification: bool = True
    """Whether an address that the provider has verified counts as proven. If false, providers are
    never linked by e-mail address."""
    state_ttl: Positive[timedelta] = timedelta(minutes=10)
    """How long a user has between the redirect to the provider and the callback."""
    store_provider_tokens: bool = False
    """Store the tokens of the provider, encrypted, for `authservice.oauth.tokens.access_token`."""
    use_session_auth: bool = False
    """States that callbacks create sessions of the session module; a system check compares it with
    the installed login module, which decides."""
    core_storage: _Users = ""
    """Dotted path of a class that finds and creates users, see `storage.UserStorage`. If empty,
    users are those of the project."""
    oauth_storage: _Links = ""
    """Dotted path of a class that stores links, see `storage.LinkStorage`. If empty, they are in
    the database."""
    session_storage: _Sessions = ""
    """Dotted path of a session store, as `SESSION.STORE`; only with the session module."""


conf = section("OAUTH", OAuth)
