"""A flow from the redirect to the callback (RFC 6749 section 4.1): state, provider, result.

Nothing of the provider's answer is shown: its errors become fixed ones of ours, and the log has the
class of the error alone. The provider is called outside of every transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from authservice.core.messages import mailed_links
from authservice.core.sessions.bearer import Caller
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, linking, registry, sign_in, state
from authservice.oauth.conf import conf
from authservice.oauth.provider import (
    Flow,
    Provider,
    ProviderError,
    TokenExchangeFailed,
    UserInfoFailed,
)
from authservice.oauth.sign_in import SignedIn
from authservice.oauth.state import Linking

logger = logging.getLogger("authservice.oauth")

CALLBACK = "oauth-callback"  # name of the route
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
    provider = registry.get(name)
    if provider is None:
        raise errors.ProviderNotFound
    if not provider.enabled:
        raise errors.ProviderDisabled
    return provider


def require_return_url(url: str) -> None:
    """Raises `ValidationFailed` unless a login may return to this URL; "" is the default one.

    It is compared as a text: whatever a URL parser or a browser makes of another spelling, it is
    not in the list.
    """
    if url and url not in _return_urls():
        raise invalid("next", _NO_RETURN)


def start(provider: Provider, *, onward: str = "") -> Redirect:
    """Start a login that returns to `onward`, which must be allowed, or to the default page.
    Raises `ProviderRefused` if the provider must be asked and does not answer."""
    flow = _new(provider)
    url = _consent_screen(provider, flow)
    return _redirect(provider, flow, url, state.store(flow, onward=onward))


def start_linking(provider: Provider, caller: Caller, *, onward: str = "") -> Redirect:
    """Start linking the provider to the caller, who must still be signed in with this session at
    the callback. Raises `InvalidToken`, and as `start` does."""
    flow = _new(provider)
    url = _consent_screen(provider, flow)
    browser = linking.store_state(flow, caller, onward=onward)
    return _redirect(provider, flow, url, browser)


def complete(
    provider: Provider,
    parameters: Parameters,
    browser_of: Callable[[str], Secret],
    client: Client,
    *,
    caller: Caller | None,
) -> Completed:
    """The result of a callback. `browser_of` returns the value of a cookie by its name; `caller` is
    who sent the request, if it has a valid access token.

    The state is used up before the provider is asked. Raises the errors of `state`, of the provider
    and of `sign_in`.
    """
    token = Secret(parameters.get("state", ""))
    started = state.find(provider.name, token, browser_of(state.cookie(token)))
    state.consume(started)
    _require_same_user(started.linking, caller)
    # The settings may have changed since the start.
    onward = started.onward if started.onward in _return_urls() else conf.default_redirect_url
    with translated(provider):
        result = provider.complete(parameters, started.flow)
    if started.linking:
        linking.link(started.linking, provider.name, result, client)
        return Completed(Linked(provider.name), onward)
    signed_in = sign_in.sign_in(
        provider.name,
        result.profile,
        result.tokens,
        client,
        caller=caller.person if caller else None,
    )
    return Completed(signed_in, onward)


@contextmanager
def translated(provider: Provider) -> Iterator[None]:
    """Within this context, the errors of a provider become errors of the API."""
    try:
        yield
    except ProviderError as wrong:
        logger.warning("%s: %s", provider.name, type(wrong).__name__)
        if isinstance(wrong, TokenExchangeFailed):
            raise errors.TokenExchangeRefused from None
        if isinstance(wrong, UserInfoFailed):
            raise errors.UserInfoUnavailable from None
        raise errors.ProviderRefused from None


def _return_urls() -> tuple[str, ...]:
    return tuple(filter(None, (conf.default_redirect_url, *conf.return_urls)))


def _new(provider: Provider) -> Flow:
    address = provider.redirect_url or mailed_links.route(CALLBACK, provider=provider.name)
    return state.new_flow(provider.name, address)


def _consent_screen(provider: Provider, flow: Flow) -> Secret:
    with translated(provider):
        return Secret(provider.authorization_url(flow))


def _redirect(provider: Provider, flow: Flow, url: Secret, browser: Secret) -> Redirect:
    return Redirect(
        url=url, cookie=state.cookie(flow.state), browser=browser, form_post=provider.form_post
    )


def _require_same_user(started_by: Linking | None, caller: Caller | None) -> None:
    """Refuse a callback that another user of this browser has started."""
    if started_by and caller and caller.person.user.pk != started_by.user_id:
        raise errors.InvalidState
