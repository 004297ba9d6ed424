"""A login with a provider, from its start to its result. Nothing of the provider's answer is shown:
its errors become fixed ones of ours, and the log has the class of the error alone. The provider is
called outside of every transaction.

A browser goes from a redirect to the callback (RFC 6749 section 4.1), with a state.

In a native app the provider's SDK logs the user in, and the app sends us what it received: either
an ID token with a nonce of ours, or a code with its verifier (RFC 7636). A nonce is a one-time
token, so each ID token works once: an app that received an ID token of a user cannot use it here
without a nonce that was issued before, and a stolen one is useless after its first use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from authservice.core.credentials import one_time
from authservice.core.messages import mailed_links
from authservice.core.models import OneTimeToken
from authservice.core.sessions import sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.users.person import Person
from authservice.kernel import clock, secret
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, linking, provider_settings, sign_in, state
from authservice.oauth.conf import conf
from authservice.oauth.provider import (
    Flow,
    Provider,
    ProviderError,
    ProviderUnreachable,
    TokenExchangeFailed,
    UserInfoFailed,
)
from authservice.oauth.sign_in import SignedIn
from authservice.oauth.state import Started

logger = logging.getLogger("authservice.oauth")

CALLBACK = "oauth-callback"  # name of the route
NONCE_TTL = timedelta(minutes=10)
_NONCE = "oauth-nonce"
_NO_RETURN = phrase("Logins may not return to this address.")


@dataclass(frozen=True, kw_only=True)
class Redirect:
    """Where to send the browser, and the cookie that binds the flow to it. `form_post`: the
    callback comes from the provider's site by POST."""

    url: Secret
    cookie: str
    browser: Secret
    form_post: bool


@dataclass(frozen=True)
class Linked:
    """The result of a flow that linked a provider to the signed-in user."""

    provider: str


@dataclass(frozen=True)
class Completed:
    """The end of a flow. `onward` is the page of the front end to return to, or ""."""

    result: SignedIn | Linked
    onward: str


class Parameters(Mapping[str, str]):
    """The parameters of a callback. Error reports show none of them: they contain the code."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return "Parameters(...)"


def usable(name: str) -> Provider:
    """The provider with this name. Raises `ProviderNotFound` or `ProviderDisabled`."""
    provider = provider_settings.find_provider(name)
    if provider is None:
        raise errors.ProviderNotFound
    if not provider.enabled:
        raise errors.ProviderDisabled
    return provider


def require_return_url(url: str) -> None:
    """Raises `ValidationFailed` unless a login may return to this URL; "" is the default page.

    URLs are compared as texts: another spelling of an allowed URL is refused, whatever a URL parser
    or a browser makes of it.
    """
    if url and url not in _return_urls():
        raise invalid("next", _NO_RETURN)


def start(provider: Provider, *, visitor: UUID | None = None, onward: str = "") -> Redirect:
    """Start a login that returns to `onward`, which must be allowed, or to the default page.
    `visitor` is the session of the browser, for a provider that sends a form; see `complete`.
    Raises `ProviderRefused` if the endpoint must be discovered and cannot be."""
    flow = _new_flow(provider)
    url = _consent_screen(provider, flow)
    return _redirect(provider, flow, url, state.store(flow, visitor=visitor, onward=onward))


def start_linking(provider: Provider, caller: Caller, *, onward: str = "") -> Redirect:
    """Start linking the provider to the caller, who must still be signed in with this session at
    the callback. Raises `InvalidToken`, and as `start` does."""
    flow = _new_flow(provider)
    url = _consent_screen(provider, flow)
    browser = linking.store_state(flow, caller, onward=onward)
    return _redirect(provider, flow, url, browser)


def complete(
    provider: Provider,
    parameters: Parameters,
    browser_of: Callable[[str], Secret],
    client: Client,
    *,
    caller: Person | None,
    signed_in: Callable[[], Iterable[Person]] = tuple,
) -> Completed:
    """The result of a callback. `browser_of` returns the value of a cookie by its name; `caller` is
    described at `first_proof.confirm_address`. With the form of a provider, browsers send no cookie
    that identifies them (`SameSite=Lax`): there the session counts that the state names.
    `signed_in` returns the users who are signed in in this browser in other ways.

    The state is used up before the provider is asked. Raises the errors of `state`, of the provider
    and of `sign_in`.
    """
    token = Secret(parameters.get("state", ""))
    started = state.find(provider.name, token, browser_of(state.cookie(token)))
    state.consume(started)
    if started.linking:
        # Another user of this browser has started the flow.
        users = [*([caller] if caller else ()), *signed_in()]
        if any(person.user.pk != started.linking.user_id for person in users):
            raise errors.InvalidState
    # The settings may have changed since the start.
    onward = started.onward if started.onward in _return_urls() else conf.default_redirect_url
    with translated(provider):
        result = provider.complete(parameters, started.flow)
    if started.linking:
        linking.link(started.linking, provider.name, result, client)
        return Completed(Linked(provider.name), onward)
    outcome = sign_in.sign_in(
        provider.name,
        result.profile,
        result.tokens,
        client,
        caller=caller or _visitor(started),
    )
    return Completed(outcome, onward)


def _visitor(started: Started) -> Person | None:
    """The user of the browser at the start, if that session is still valid. The state is bound to
    this browser."""
    match = started.visitor and sessions.find_for_request(started.visitor)
    return match[0] if match and sessions.is_valid(*match) else None


@contextmanager
def translated(provider: Provider) -> Iterator[None]:
    """Within this context, the errors of a provider become errors of the API."""
    try:
        yield
    except ProviderError as error:
        logger.warning("%s: %s", provider.name, type(error).__name__)
        if isinstance(error, TokenExchangeFailed):
            raise errors.TokenExchangeRefused from None
        if isinstance(error, UserInfoFailed):
            raise errors.UserInfoUnavailable from None
        if isinstance(error, ProviderUnreachable):
            raise errors.provider_unreachable() from None
        raise errors.ProviderRefused from None


def _return_urls() -> tuple[str, ...]:
    return tuple(filter(None, (conf.default_redirect_url, *conf.return_urls)))


def _new_flow(provider: Provider) -> Flow:
    address = provider.redirect_url or mailed_links.route(CALLBACK, provider=provider.name)
    return state.new_flow(provider.name, address)


def _consent_screen(provider: Provider, flow: Flow) -> Secret:
    with translated(provider):
        return Secret(provider.authorization_url(flow))


def _redirect(provider: Provider, flow: Flow, url: Secret, browser: Secret) -> Redirect:
    return Redirect(
        url=url, cookie=state.cookie(flow.state), browser=browser, form_post=provider.form_post
    )


def issue_nonce(provider: Provider) -> Secret:
    """A nonce to request an ID token with. Raises `ValidationFailed` if the provider has none."""
    _require_id_tokens(provider)
    nonce, now = one_time.new_token(), clock.now()
    OneTimeToken.objects.create(
        purpose=_NONCE,
        digest=secret.digest(_NONCE, nonce.reveal()),
        payload={"provider": provider.name},
        created_at=now,
        expires_at=now + NONCE_TTL,
    )
    return nonce


def with_id_token(
    provider: Provider, id_token: Secret, nonce: Secret, client: Client, *, caller: Person | None
) -> SignedIn:
    """Log in with an ID token whose nonce is ours. Raises `InvalidState`, `StateExpired`,
    `StateUsed`, `TokenExchangeRefused`, and as `sign_in` does."""
    _require_id_tokens(provider)
    _consume_nonce(provider, nonce)
    audiences = [provider.client_id, *provider.native_client_ids]
    with translated(provider):
        profile = provider.verify_id_token(id_token, nonce, audiences)
    return sign_in.sign_in(provider.name, profile, None, client, caller=caller)


def with_code(
    provider: Provider,
    code: Secret,
    code_verifier: Secret,
    redirect_uri: str,
    client: Client,
    *,
    caller: Person | None,
) -> SignedIn:
    """Log in with a code of the provider. Raises `ValidationFailed` without a verifier or for a
    redirect address that is not in `NATIVE_REDIRECT_URIS`, `TokenExchangeRefused`, and as `sign_in`
    does."""
    if not code_verifier:
        # Without a verifier some providers exchange a code that was stolen on its way to the app
        # (RFC 7636).
        raise invalid("code_verifier", phrase("This field is required."))
    if redirect_uri not in provider.native_redirect_uris:
        rule = phrase("Must be one of NATIVE_REDIRECT_URIS of the provider.")
        raise invalid("redirect_uri", rule)
    with translated(provider):
        result = provider.exchange_native(code, code_verifier, redirect_uri)
    return sign_in.sign_in(provider.name, result.profile, result.tokens, client, caller=caller)


def _require_id_tokens(provider: Provider) -> None:
    if not provider.id_tokens:
        raise invalid("id_token", phrase("This provider issues no ID tokens. Send a code."))


def _consume_nonce(provider: Provider, nonce: Secret) -> None:
    digests = secret.digests(_NONCE, nonce.reveal())
    row = OneTimeToken.objects.filter(purpose=_NONCE, digest__in=digests).first()
    if row is None or row.payload["provider"] != provider.name:
        raise errors.InvalidState
    if row.expires_at <= clock.now():
        raise errors.StateExpired
    if not one_time.consume(row):
        raise errors.StateUsed
