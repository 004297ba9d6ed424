"""Routes of the oauth module.

The targets of redirects come from settings alone, the callback address from `API_URL`: neither a
parameter nor the Host header of a request changes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse

from authservice.core.api import redirects, responses
from authservice.core.api.authentication import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Challenged, MessageResponse
from authservice.core.login import login
from authservice.core.recovery import recent_proof
from authservice.core.users.person import Person
from authservice.kernel import errors as general
from authservice.kernel import sections
from authservice.kernel.http import cookies
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, linking, native, registry
from authservice.oauth.conf import conf
from authservice.oauth.flow import Linked, Parameters, Redirect
from authservice.oauth.serializers import (
    CallbackIn,
    IssuedNonce,
    LinkedList,
    LinkIn,
    LinkStarted,
    NativeTokenIn,
    ProviderLinked,
    ProviderList,
    SignedInByProvider,
)
from authservice.oauth.sign_in import SignedIn

_DONE = phrase("Signed in.")
_NO_PASSWORD = Secret("")
_PROVIDER = (errors.ProviderNotFound, errors.ProviderDisabled)
_ACCOUNT = (
    errors.AccountLinkingDisabled,
    errors.AlreadyLinked,
    errors.EmailRequired,
    errors.EmailTaken,
    errors.SignupByProviderDisabled,
    errors.TokenExchangeRefused,
    errors.UserInfoUnavailable,
    errors.InvalidState,
    errors.StateExpired,
    errors.StateUsed,
    *login.REFUSALS,
)
_CALLBACK = (*_PROVIDER, *_ACCOUNT, errors.ProviderRefused)
_ONWARD = (
    "The front end, with tokens, a challenge or `linked` in the fragment, or with an error in the"
    " query, where one is set."
)


class Providers(Endpoint):
    public = True

    @operation("List the providers", answer=ProviderList, id="listProviders")
    def list_all(self) -> HttpResponse:
        found = registry.configured().values()
        body: ProviderList = {
            "providers": [{"name": one.name, "enabled": one.enabled} for one in found]
        }
        return answer(body)


class LinkedProviders(Endpoint):
    @operation("List the providers that are linked", answer=LinkedList, id="listLinkedProviders")
    def list_own(self) -> HttpResponse:
        body: LinkedList = {"providers": linking.linked(self.identity.person)}
        return answer(body)


class Start(Endpoint):
    public_actions = frozenset({"start"})

    @operation(
        "Log in with a provider",
        # None for a HEAD request or a browser prefetch: no login is started.
        answer=None,
        redirect="The consent screen of the provider.",
        faults=(*_PROVIDER, errors.ProviderRefused),
        id="startProviderLogin",
    )
    def start(self, provider: str) -> HttpResponse:
        chosen = flow.usable(provider)
        if self.is_prefetch:
            return answer()
        begun = flow.start(chosen)
        response = redirects.redirect(begun.url.reveal())
        _bind(response, begun)
        return response

    @operation(
        "Unlink a provider",
        answer=MessageResponse,
        faults=(errors.NotLinked, errors.LastLoginMethod),
        id="unlinkProvider",
    )
    def unlink(self, provider: str) -> HttpResponse:
        caller = self.identity
        linking.unlink(caller.person, caller.session, provider, self.client)
        return responses.message_response(phrase("The provider was unlinked."))


class Callback(Endpoint):
    """State and cookie are the proof of a callback, so it needs no CSRF token."""

    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Where a provider sends the browser back to",
        query=CallbackIn,
        # None for a HEAD request or a browser prefetch: the code stays unused.
        answer=SignedInByProvider | Challenged | ProviderLinked | None,
        redirect=_ONWARD,
        faults=_CALLBACK,
        id="followProvider",
    )
    def follow(self, provider: str) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        return self._arrive(provider, self.read_query)

    @operation(
        "The same for providers that send a form (Apple)",
        body=CallbackIn,
        answer=SignedInByProvider | Challenged | ProviderLinked,
        redirect=_ONWARD,
        faults=(*_CALLBACK, general.MethodNotAllowed),
        id="receiveProvider",
    )
    def receive(self, provider: str) -> HttpResponse:
        found = registry.get(provider)
        if found is not None and not found.form_post:
            raise general.MethodNotAllowed(headers={"Allow": "GET, HEAD, OPTIONS"})
        return self._arrive(provider, self.read)

    def _arrive(self, provider: str, read: Callable[[Any], dict[str, Any]]) -> HttpResponse:
        try:
            # The parameters are in no local variable: error reports print those of each frame.
            result = self._complete(provider, Parameters(_texts(read(CallbackIn))))
        except general.Fault as fault:
            return redirects.refusal_in_query(fault, to=conf.error_redirect_url)
        if isinstance(result, Linked):
            return _linked(result)
        return redirects.login(
            result.outcome, to=conf.default_redirect_url, message=_DONE, more=_more(result)
        )

    def _complete(self, provider: str, parameters: Parameters) -> SignedIn | Linked:
        return flow.complete(
            flow.usable(provider),
            parameters,
            self._browser,
            self.client,
            caller=live_caller(self.request),
        )

    def _browser(self, name: str) -> Secret:
        """The cookie of the flow, which the response deletes."""
        self.on_response = lambda response: cookies.forget(response, name)
        return Secret(cookies.get(self.request, name))


class Link(Endpoint):
    @operation(
        "Link a provider to one's own account",
        body=LinkIn,
        answer=LinkStarted,
        faults=(
            *_PROVIDER,
            errors.ProviderRefused,
            general.InvalidCredentials,
            general.ReauthenticationRequired,
            general.TooManyAttempts,
        ),
        id="linkProvider",
    )
    def start(self, provider: str) -> HttpResponse:
        chosen, caller = flow.usable(provider), self.identity
        password = self.read(LinkIn).get("password", _NO_PASSWORD)
        recent_proof.require_recent(
            caller.person, caller.session, password, self.client, method="oauth-link"
        )
        begun = flow.start_linking(chosen, caller)
        started: LinkStarted = {"url": begun.url.reveal()}
        response = answer(started)
        _bind(response, begun)
        return response


class Nonce(Endpoint):
    public = True
    throttle_scopes = {"issue": "oauth-native"}

    @operation(
        "Get a nonce for an ID token", answer=IssuedNonce, faults=_PROVIDER, id="issueProviderNonce"
    )
    def issue(self, provider: str) -> HttpResponse:
        nonce = native.issue_nonce(flow.usable(provider))
        body: IssuedNonce = {
            "nonce": nonce.reveal(),
            "expires_in": int(native.NONCE_TTL.total_seconds()),
        }
        return answer(body)


class Token(Endpoint):
    public = True
    throttle_scopes = {"trade": "oauth-native"}

    @operation(
        "Log in a native app with an ID token or a code",
        body=NativeTokenIn,
        answer=SignedInByProvider | Challenged,
        faults=(*_PROVIDER, *_ACCOUNT),
        id="tradeProviderToken",
    )
    def trade(self, provider: str) -> HttpResponse:
        chosen, given = flow.usable(provider), self.read(NativeTokenIn)
        if self.one_of(given, *NativeTokenIn.exactly_one) == "id_token":
            result = native.with_id_token(
                chosen, given["id_token"], given["nonce"], self.client, caller=self._caller
            )
        else:
            result = native.with_code(
                chosen,
                given["code"],
                given["code_verifier"],
                given["redirect_uri"],
                self.client,
                caller=self._caller,
            )
        return responses.login(result.outcome, message=_DONE, more=_more(result))

    @property
    def _caller(self) -> Person | None:
        caller = live_caller(self.request)
        return caller.person if caller else None


def _more(result: SignedIn) -> dict[str, Any]:
    return {
        "token_type": "Bearer",
        "is_new_user": result.is_new_user,
        "provider": result.provider,
    }


def _linked(result: Linked) -> HttpResponse:
    if conf.default_redirect_url:
        return redirects.result({"linked": result.provider}, to=conf.default_redirect_url)
    body: ProviderLinked = {
        "status": "linked",
        "message": phrase("The provider was linked."),
        "provider": result.provider,
    }
    return answer(body)


def _bind(response: HttpResponse, begun: Redirect) -> None:
    """Bind the flow to the browser. Browsers send `Lax` cookies with a top-level navigation from
    another site, but not with a form; `None` requires HTTPS."""
    foreign = begun.form_post and sections.secure()
    samesite: cookies.SameSite = "None" if foreign else "Lax"
    cookies.put(
        response, begun.cookie, begun.browser.reveal(), ttl=conf.state_ttl, samesite=samesite
    )


def _texts(given: dict[str, Any]) -> dict[str, str]:
    """The parameters as the provider sent them; empty ones are left out."""
    texts = {
        name: value.reveal() if isinstance(value, Secret) else value
        for name, value in given.items()
    }
    return {name: text for name, text in texts.items() if text}
